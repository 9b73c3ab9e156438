package dev.ichido.executor;

import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rules of an attempt apart from the database and the remote: which row is asked for before
 * anything else, and what follows from the answer. The executor and its simulation share them.
 */
public final class AttemptProtocol {
  private static final String REVOKED = "REVOKED";
  private static final String DEADLINE_PASSED = "DEADLINE_PASSED";
  private static final String CLAIM_TOO_OLD = "CLAIM_TOO_OLD";

  /** The reasons of an attempt whose claim or revocation proves that no call began. */
  public static final Set<String> NEVER_BEGUN = Set.of(REVOKED, DEADLINE_PASSED, CLAIM_TOO_OLD);

  private AttemptProtocol() {}

  /** What is done next about a command. */
  public sealed interface Next {
    /** The remote is called, this once. */
    record Call() implements Next {}

    /** The remote is asked what happened. */
    record Ask() implements Next {}

    /** What is known is told again, as it was. */
    record Tell(Report report) implements Next {}

    /** The attempt is another's: only its lease can tell. */
    record Nothing() implements Next {}
  }

  /**
   * The row that must be asked for first; none for a read, and for a status read of an attempt that
   * was reported on. An attempt that may not start any more is asked for as a revocation.
   *
   * @param claimRetention age at which claims may have been deleted; null: they never are
   */
  public static Optional<ClaimRequest> claim(
      ToolCommand command, Instant now, @Nullable Duration claimRetention) {
    boolean execute = command.kind() == ToolCommand.Kind.EXECUTE;
    boolean revoke =
        command.kind() == ToolCommand.Kind.RECONCILE
            && command.leaseOver()
            && !mayHaveBeenDeleted(command, now, claimRetention);
    if (!execute && !revoke) {
      return Optional.empty();
    }
    Report revocation = null;
    if (!execute) {
      revocation = revocation(command, REVOKED, now);
    } else if (command.isOver(now)) {
      revocation = revocation(command, DEADLINE_PASSED, now);
    }
    return Optional.of(
        new ClaimRequest(
            command.recordKey(),
            command.attempt(),
            command.commandId(),
            command.action(),
            command.deadline(),
            revocation));
  }

  /**
   * What the answer means to who asked. A revocation that was won is a recorded result.
   *
   * <p>One that had asked before, and was not answered, may have won after all. Deliveries of a key
   * ask one after the other, and each only when the one before is done: an open row of this life is
   * its own, or that of a delivery that was given away before it heard, and no call was begun under
   * it.
   */
  public static ClaimAnswer granted(
      ToolCommand command,
      ClaimRequest request,
      ClaimAnswer answer,
      String owner,
      boolean askedBefore) {
    Report revocation = request.revocation();
    if (answer instanceof ClaimAnswer.Won && revocation != null) {
      return new ClaimAnswer.Recorded(revocation);
    }
    boolean hadWon =
        askedBefore
            && command.kind() == ToolCommand.Kind.EXECUTE
            && answer instanceof ClaimAnswer.Open open
            && open.owner().equals(owner);
    return hadWon ? new ClaimAnswer.Won() : answer;
  }

  /**
   * What follows for an EXECUTE or a RECONCILE.
   *
   * @param claim whose the attempt is; null when it is nobody's, which only a RECONCILE may find
   */
  public static Next next(ToolCommand command, @Nullable ClaimAnswer claim) {
    if (command.kind() == ToolCommand.Kind.RECONCILE) {
      return claim instanceof ClaimAnswer.Recorded recorded
              && isNews(command, recorded.report().finding())
          ? new Next.Tell(recorded.report())
          : new Next.Ask();
    }
    return switch (claim) {
      case ClaimAnswer.Recorded recorded -> new Next.Tell(recorded.report());
      case ClaimAnswer.Open open -> new Next.Nothing();
      case ClaimAnswer.Won won -> new Next.Call();
      case null -> throw new IllegalStateException("Expected a claim before the call.");
    };
  }

  /**
   * A recorded UNKNOWN is no news; what the remote says now may be. That the attempt had no effect
   * is none to a processor that had its report: it asks because of what an earlier one may have
   * done.
   */
  private static boolean isNews(ToolCommand command, Finding recorded) {
    return switch (recorded) {
      case UNKNOWN -> false;
      case FAILED_RETRYABLE, FAILED_TERMINAL -> command.leaseOver();
      case SUCCEEDED, COMMITTED, ABSENT -> true;
    };
  }

  /**
   * Why the call may not start any more, if so; asked last before it does.
   *
   * <p>That the claim is young holds whatever this executor's clock says of the deadline: whoever
   * reads that an attempt is absent looked for its claim before, found it open, and believes in its
   * absence when {@code absent_after} is over. By then the call has started.
   *
   * @param sinceClaim since before the claim was asked for, by a clock that nobody sets
   */
  public static Optional<String> whyNotStart(
      ToolCommand command, Instant now, Duration sinceClaim) {
    if (command.isOver(now)) {
      return Optional.of(DEADLINE_PASSED);
    }
    Duration within = command.startWithin();
    return within != null && sinceClaim.compareTo(within) >= 0
        ? Optional.of(CLAIM_TOO_OLD)
        : Optional.empty();
  }

  /** Equal whenever the attempt's result is told. */
  public static String resultId(ToolCommand command) {
    return switch (command.kind()) {
      case EXECUTE -> command.commandId() + "/result";
      case READ, RECONCILE -> command.commandId() + "/answer";
    };
  }

  /**
   * An answer that came after the attempt was given up on: another report, that settles it. Empty
   * where it says no more than the first one did.
   */
  public static Optional<Report> late(Report r) {
    if (r.finding() == Finding.UNKNOWN) {
      return Optional.empty();
    }
    return Optional.of(
        new Report(
            r.kind(),
            r.finding(),
            r.resultId() + "/late",
            r.reference(),
            r.body(),
            r.bodySha256(),
            r.bodyBytes(),
            r.schema(),
            r.reason(),
            r.remoteStatus(),
            r.remoteCalls(),
            r.retryAfter(),
            r.at()));
  }

  /** Of an attempt as old as that, a missing claim proves nothing. */
  private static boolean mayHaveBeenDeleted(
      ToolCommand command, Instant now, @Nullable Duration claimRetention) {
    Instant first = command.firstAttemptAt();
    return claimRetention != null && (first == null || !now.isBefore(first.plus(claimRetention)));
  }

  /** The attempt can't start any more, since this row takes its place: proven not started. */
  private static Report revocation(ToolCommand command, String reason, Instant now) {
    return new Report(
        Report.Kind.ATTEMPT,
        Finding.FAILED_RETRYABLE,
        resultId(command),
        null,
        null,
        null,
        0,
        null,
        reason,
        null,
        0,
        null,
        now);
  }
}
