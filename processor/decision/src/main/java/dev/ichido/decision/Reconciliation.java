package dev.ichido.decision;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How far the asking of the remote has come.
 *
 * @param reads status reads that were asked for, from 1
 * @param nextAt when the next one is asked for
 * @param leaseOver the lease ended without a report, so an executor first tries to revoke the claim
 * @param absences reports about the attempt that is asked about that found nothing
 * @param absenceIds ids of the latest of them, so that none counts twice
 * @param firstAbsentAt when the first of them came; null while there is none
 */
public record Reconciliation(
    int reads,
    Instant nextAt,
    boolean leaseOver,
    int absences,
    List<String> absenceIds,
    @Nullable Instant firstAbsentAt) {
  private static final int IDS_KEPT = 16;

  public Reconciliation {
    Objects.requireNonNull(nextAt, "nextAt");
    absenceIds = List.copyOf(absenceIds);
  }

  static Reconciliation first(Instant at, boolean leaseOver) {
    return new Reconciliation(1, at.plus(Backoff.betweenReads(1)), leaseOver, 0, List.of(), null);
  }

  Reconciliation askedAgain(Instant at) {
    return new Reconciliation(
        reads + 1,
        at.plus(Backoff.betweenReads(reads + 1)),
        leaseOver,
        absences,
        absenceIds,
        firstAbsentAt);
  }

  Reconciliation stillUnknown(Instant at) {
    return new Reconciliation(
        reads,
        at.plus(Backoff.betweenReads(reads)),
        leaseOver,
        absences,
        absenceIds,
        firstAbsentAt);
  }

  /** From now on the remote is asked about another: what was read proves nothing of that one. */
  Reconciliation ofAnotherAttempt() {
    return new Reconciliation(reads, nextAt, false, 0, List.of(), null);
  }

  Reconciliation foundAbsent(String resultId, Instant at) {
    List<String> ids = new ArrayList<>(absenceIds);
    ids.add(resultId);
    return new Reconciliation(
        reads,
        at.plus(Backoff.betweenReads(reads)),
        leaseOver,
        absences + 1,
        ids.size() > IDS_KEPT ? ids.subList(1, ids.size()) : ids,
        firstAbsentAt == null ? at : firstAbsentAt);
  }

  /**
   * Whether the absences are the proof that the contract asks for.
   *
   * @param lastReadAt when the latest of them was read, at the latest
   */
  boolean proves(ActionPolicy.AbsentAfter contract, Instant lastReadAt) {
    Instant first = firstAbsentAt;
    return first != null
        && absences >= contract.reads()
        && Duration.between(first, lastReadAt).compareTo(contract.over()) >= 0;
  }
}
