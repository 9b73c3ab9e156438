package dev.ichido.topology.store;

import dev.ichido.decision.Answer;
import dev.ichido.decision.Attempts;
import dev.ichido.decision.Binding;
import dev.ichido.decision.BodyHandle;
import dev.ichido.decision.Marker;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.OrphanEvidence;
import dev.ichido.decision.OtherEffect;
import dev.ichido.decision.Reconciliation;
import dev.ichido.decision.StateName;
import dev.ichido.decision.StoredResult;
import dev.ichido.decision.Superseded;
import dev.ichido.decision.Waiting;
import dev.ichido.decision.WaitingDelivery;
import dev.ichido.decision.Work;
import dev.ichido.operation.Principal;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a state, in the order of its record. Tags and order are for ever; a field that came
 * with a later version is read only where that version wrote.
 */
final class StateFields {
  private static final int ABSENT = 0;
  private static final int IN_PROGRESS = 1;
  private static final int UNKNOWN = 2;
  private static final int FAILED_RETRYABLE = 3;
  private static final int SUCCEEDED = 4;
  private static final int FAILED_TERMINAL = 5;
  private static final int EXPIRED = 6;
  private static final int CANCELLED = 7;

  private StateFields() {}

  static void write(FieldWriter out, OperationState state) throws IOException {
    switch (state) {
      case Absent s -> {
        out.tag(ABSENT);
        evidence(out, s.evidence());
      }
      case InProgress s -> {
        out.tag(IN_PROGRESS);
        out.large(s.revision());
        binding(out, s.binding());
        attempts(out, s.attempts());
        work(out, s.work());
        out.instant(s.leaseUntil());
        waiting(out, s.waiting());
      }
      case UnknownReconciliation s -> {
        out.tag(UNKNOWN);
        out.large(s.revision());
        binding(out, s.binding());
        attempts(out, s.attempts());
        work(out, s.work());
        reconciliation(out, s.reconciliation());
        out.instant(s.since());
        out.instant(s.reclaimAt());
        out.optionalInstant(s.wakeAt());
        waiting(out, s.waiting());
      }
      case FailedRetryable s -> {
        out.tag(FAILED_RETRYABLE);
        out.large(s.revision());
        binding(out, s.binding());
        attempts(out, s.attempts());
        work(out, s.work());
        out.text(s.settlingId());
        out.instant(s.settledAt());
        out.instant(s.retryAt());
        out.optionalInstant(s.wakeAt());
        out.instant(s.retainUntil());
        out.instant(s.forgetAt());
        waiting(out, s.waiting());
      }
      case Succeeded s -> {
        out.tag(SUCCEEDED);
        out.large(s.revision());
        binding(out, s.binding());
        attempts(out, s.attempts());
        result(out, s.result());
        out.instant(s.settledAt());
        out.instant(s.retainUntil());
        out.instant(s.forgetAt());
        out.list(s.others(), StateFields::other);
        superseded(out, s.superseded());
      }
      case FailedTerminal s -> {
        out.tag(FAILED_TERMINAL);
        out.large(s.revision());
        binding(out, s.binding());
        attempts(out, s.attempts());
        result(out, s.result());
        out.instant(s.settledAt());
        out.instant(s.retainUntil());
        out.instant(s.forgetAt());
      }
      case Expired s -> {
        out.tag(EXPIRED);
        out.large(s.revision());
        binding(out, s.binding());
        out.number(s.attempt());
        out.text(s.was().name());
        out.instant(s.settledAt());
        out.instant(s.forgetAt());
      }
      case Cancelled s -> {
        out.tag(CANCELLED);
        out.large(s.revision());
        binding(out, s.binding());
        out.number(s.attempt());
        out.instant(s.settledAt());
        out.instant(s.retainUntil());
        out.instant(s.forgetAt());
      }
    }
  }

  static OperationState read(FieldReader in) throws IOException {
    int tag = in.tag();
    return switch (tag) {
      case ABSENT -> new Absent(evidence(in));
      case IN_PROGRESS ->
          new InProgress(
              in.large(), binding(in), attempts(in, true), work(in), in.instant(), waiting(in));
      case UNKNOWN ->
          new UnknownReconciliation(
              in.large(),
              binding(in),
              attempts(in, true),
              work(in),
              reconciliation(in),
              in.instant(),
              in.instant(),
              in.optionalInstant(),
              waiting(in));
      case FAILED_RETRYABLE -> failedRetryable(in);
      case SUCCEEDED ->
          new Succeeded(
              in.large(),
              binding(in),
              attempts(in, true),
              result(in),
              in.instant(),
              in.instant(),
              in.instant(),
              in.list(StateFields::other),
              superseded(in));
      case FAILED_TERMINAL ->
          new FailedTerminal(
              in.large(),
              binding(in),
              attempts(in, false),
              result(in),
              in.instant(),
              in.instant(),
              in.instant());
      case EXPIRED ->
          new Expired(
              in.large(),
              binding(in),
              in.number(),
              StateName.valueOf(in.text()),
              in.instant(),
              in.instant());
      case CANCELLED ->
          new Cancelled(
              in.large(), binding(in), in.number(), in.instant(), in.instant(), in.instant());
      default -> throw StoredOperationSerde.unreadable("state tag " + tag, null);
    };
  }

  private static void evidence(FieldWriter out, @Nullable OrphanEvidence evidence)
      throws IOException {
    out.flag(evidence != null);
    if (evidence != null) {
      out.text(evidence.resultId());
      out.number(evidence.attempt());
      out.optionalText(evidence.remoteReference());
      out.instant(evidence.reportedAt());
      out.instant(evidence.forgetAt());
    }
  }

  private static @Nullable OrphanEvidence evidence(FieldReader in) throws IOException {
    return in.flag()
        ? new OrphanEvidence(in.text(), in.number(), in.optionalText(), in.instant(), in.instant())
        : null;
  }

  private static void binding(FieldWriter out, Binding binding) throws IOException {
    out.text(binding.principal().name());
    Fingerprint fingerprint = binding.fingerprint();
    out.flag(fingerprint != null);
    if (fingerprint != null) {
      out.number(fingerprint.version());
      out.text(fingerprint.digest());
      out.number(fingerprint.memberDigests().size());
      for (Map.Entry<String, String> member : fingerprint.memberDigests().entrySet()) {
        out.text(member.getKey());
        out.text(member.getValue());
      }
      SortedSet<String> left = fingerprint.volatileMembers();
      out.flag(left != null);
      if (left != null) {
        out.list(List.copyOf(left), FieldWriter::text);
      }
    }
    out.optionalText(binding.action());
    out.optionalText(binding.actionVersion());
    out.optionalText(binding.target());
    out.optionalText(binding.workflowId());
    out.optionalText(binding.step());
    out.optionalText(binding.compensates());
    out.optionalText(binding.compensatedBy());
  }

  private static Binding binding(FieldReader in) throws IOException {
    return new Binding(
        new Principal(in.text()),
        fingerprint(in),
        in.optionalText(),
        in.optionalText(),
        in.optionalText(),
        in.optionalText(),
        in.optionalText(),
        in.optionalText(),
        in.version() < 2 ? null : in.optionalText());
  }

  private static @Nullable Fingerprint fingerprint(FieldReader in) throws IOException {
    if (!in.flag()) {
      return null;
    }
    int version = in.number();
    String digest = in.text();
    TreeMap<String, String> members = new TreeMap<>();
    for (int left = in.number(); left > 0; left--) {
      members.put(in.text(), in.text());
    }
    TreeSet<String> left =
        in.version() < 4 || !in.flag() ? null : new TreeSet<>(in.list(FieldReader::text));
    return new Fingerprint(version, digest, members, left);
  }

  private static void attempts(FieldWriter out, Attempts attempts) throws IOException {
    out.number(attempts.number());
    out.number(attempts.base());
    out.instant(attempts.firstStartedAt());
    out.instant(attempts.startedAt());
    out.text(attempts.downstreamKey());
    out.flag(attempts.keyed());
    out.list(attempts.unproven(), FieldWriter::number);
    out.flag(attempts.noFurther());
  }

  private static Attempts attempts(FieldReader in, boolean latestUnproven) throws IOException {
    int number = in.number();
    int base = in.number();
    return new Attempts(
        number,
        base,
        in.instant(),
        in.instant(),
        in.text(),
        in.flag(),
        in.version() < 3
            ? unproven(base, number, in.flag(), latestUnproven)
            : in.list(FieldReader::number),
        in.flag());
  }

  /** Until version 2 it was not kept which of the earlier attempts were unproven. */
  private static List<Integer> unproven(
      int base, int number, boolean earlierUnproven, boolean latestUnproven) {
    return IntStream.rangeClosed(earlierUnproven ? base + 1 : number, number)
        .filter(attempt -> attempt < number || latestUnproven)
        .boxed()
        .toList();
  }

  /**
   * Until version 2 the failure of the latest attempt was kept as that of the operation, even where
   * an earlier attempt was unproven. That is unknown, and the remote is to be asked.
   */
  private static OperationState failedRetryable(FieldReader in) throws IOException {
    long revision = in.large();
    Binding binding = binding(in);
    Attempts attempts = attempts(in, false);
    Work work = work(in);
    String settlingId = in.text();
    Instant settledAt = in.instant();
    Instant retryAt = in.instant();
    Instant wakeAt = in.optionalInstant();
    Instant retainUntil = in.instant();
    Instant forgetAt = in.instant();
    Waiting waiting = waiting(in);
    return attempts.unproven().isEmpty()
        ? new FailedRetryable(
            revision,
            binding,
            attempts,
            work,
            settlingId,
            settledAt,
            retryAt,
            wakeAt,
            retainUntil,
            forgetAt,
            waiting)
        : new UnknownReconciliation(
            revision,
            binding,
            attempts,
            work,
            new Reconciliation(1, settledAt, false, 0, List.of(), null),
            settledAt,
            retryAt,
            wakeAt,
            waiting);
  }

  private static void work(FieldWriter out, Work work) throws IOException {
    out.text(work.arguments());
    out.optionalText(work.precondition());
    out.instant(work.issuedAt());
  }

  private static Work work(FieldReader in) throws IOException {
    return new Work(in.text(), in.optionalText(), in.instant());
  }

  private static void waiting(FieldWriter out, Waiting waiting) throws IOException {
    out.list(waiting.deliveries(), StateFields::delivery);
  }

  private static Waiting waiting(FieldReader in) throws IOException {
    return new Waiting(in.list(StateFields::delivery));
  }

  private static void delivery(FieldWriter out, WaitingDelivery delivery) throws IOException {
    out.text(delivery.deliveryId());
    out.text(delivery.principal().name());
  }

  private static WaitingDelivery delivery(FieldReader in) throws IOException {
    return new WaitingDelivery(in.text(), new Principal(in.text()));
  }

  private static void reconciliation(FieldWriter out, Reconciliation reconciliation)
      throws IOException {
    out.number(reconciliation.reads());
    out.instant(reconciliation.nextAt());
    out.flag(reconciliation.leaseOver());
    out.number(reconciliation.absences());
    out.list(reconciliation.absenceIds(), FieldWriter::text);
    out.optionalInstant(reconciliation.firstAbsentAt());
  }

  private static Reconciliation reconciliation(FieldReader in) throws IOException {
    return new Reconciliation(
        in.number(),
        in.instant(),
        in.flag(),
        in.number(),
        in.list(FieldReader::text),
        in.optionalInstant());
  }

  private static void result(FieldWriter out, StoredResult result) throws IOException {
    out.text(result.resultId());
    Answer answer = result.answer();
    out.optionalText(answer.remoteReference());
    out.optionalText(answer.body());
    BodyHandle handle = answer.handle();
    out.flag(handle != null);
    if (handle != null) {
      out.text(handle.sha256());
      out.large(handle.bytes());
    }
    out.optionalNumber(answer.schema());
    out.optionalText(answer.reason());
    out.optionalNumber(answer.status());
    out.text(result.settledBy().name());
    out.optionalText(result.sha256());
  }

  private static StoredResult result(FieldReader in) throws IOException {
    return new StoredResult(
        in.text(),
        new Answer(
            in.optionalText(),
            in.optionalText(),
            in.flag() ? new BodyHandle(in.text(), in.large()) : null,
            in.optionalNumber(),
            in.optionalText(),
            in.optionalNumber()),
        Marker.valueOf(in.text()),
        in.optionalText());
  }

  private static void other(FieldWriter out, OtherEffect other) throws IOException {
    out.text(other.resultId());
    out.optionalText(other.remoteReference());
    out.number(other.attempt());
    out.instant(other.reportedAt());
  }

  private static OtherEffect other(FieldReader in) throws IOException {
    return new OtherEffect(in.text(), in.optionalText(), in.number(), in.instant());
  }

  private static void superseded(FieldWriter out, @Nullable Superseded superseded)
      throws IOException {
    out.flag(superseded != null);
    if (superseded != null) {
      out.text(superseded.state().name());
      out.instant(superseded.settledAt());
    }
  }

  private static @Nullable Superseded superseded(FieldReader in) throws IOException {
    return in.flag() ? new Superseded(StateName.valueOf(in.text()), in.instant()) : null;
  }
}
