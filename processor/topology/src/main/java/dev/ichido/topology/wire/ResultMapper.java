package dev.ichido.topology.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.Answer;
import dev.ichido.decision.BodyHandle;
import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationEvent.ReadReported;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.RefusedRecord;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.wire.RecordSerdes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.function.BiPredicate;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/** Bytes of the results topic to an event. */
public final class ResultMapper {
  /** A remote's wish to wait is heeded up to this. */
  private static final Duration LONGEST_RETRY_AFTER = Duration.ofDays(1);

  private final Deserializer<OperationResult> deserializer;
  private final int inlineBodyBytes;

  /**
   * Reads with the configured serde.
   *
   * @param inlineBodyBytes a body of more UTF-8 bytes is replaced by its handle
   */
  public ResultMapper(RecordSerdes serdes, int inlineBodyBytes) {
    this.deserializer = serdes.deserializer(OperationResult.class);
    this.inlineBodyBytes = inlineBodyBytes;
  }

  /**
   * Reads one record of the topic.
   *
   * @param mayResolve of a tenant and a person, whether that person may settle
   * @throws PoisonException for a record that is no report
   */
  public OperationEvent event(
      String topic,
      byte @Nullable [] key,
      byte @Nullable [] value,
      Instant at,
      BiPredicate<String, String> mayResolve)
      throws PoisonException {
    OperationResult record = Decoding.decode(deserializer, topic, value);
    requireSize(key, value, record.getBody());
    RecordKeys.requireFit(
        key,
        RecordKeys.of(
            record.getTenant(),
            record.getScope(),
            record.getOperationId(),
            record.getDeliveryId()));
    if (record.getResultId().isBlank()) {
      throw new PoisonException(
          Poison.contract(
              "RESULT_ID_MISSING",
              "Expected a result id, but it is blank. Check the executor that reported."));
    }
    Integer attempt = record.getAttempt();
    if (attempt != null && attempt < 1) {
      throw unfit("an attempt from 1", "attempt");
    }
    return switch (record.getKind()) {
      case ATTEMPT ->
          new ResultReported(
              operation(record),
              at,
              record.getResultId(),
              attempt,
              attemptOutcome(record.getOutcome()),
              answer(record),
              retryAfter(record));
      case READ -> read(record, at);
      case RECONCILE ->
          new ReconciliationReported(
              operation(record),
              at,
              record.getResultId(),
              attempt,
              found(record.getOutcome()),
              answer(record),
              record.getReportedAt());
      case RESOLVE -> {
        String by = record.getReportedBy() == null ? "" : record.getReportedBy();
        yield new ResolutionReceived(
            operation(record),
            at,
            record.getResultId(),
            record.getAttempt(),
            resolvedAs(record.getOutcome()),
            by,
            record.getEvidence() == null ? "" : record.getEvidence(),
            mayResolve.test(record.getTenant(), by),
            answer(record));
      }
      case UNRECOGNIZED -> throw unfit("a kind that this release knows", "kind");
    };
  }

  private OperationEvent read(OperationResult record, Instant at) throws PoisonException {
    String deliveryId = record.getDeliveryId();
    if (deliveryId == null || deliveryId.isBlank()) {
      throw unfit("a delivery to answer to", ResultKind.READ + " delivery_id");
    }
    String principal = record.getPrincipal();
    return new ReadReported(
        record.getTenant(),
        record.getScope(),
        record.getOperationId(),
        deliveryId,
        principal == null || principal.isBlank() ? IntentMapper.UNNAMED : new Principal(principal),
        at,
        record.getResultId(),
        switch (record.getOutcome()) {
          case SUCCEEDED -> true;
          case FAILED_TERMINAL -> false;
          case UNRECOGNIZED, FAILED_RETRYABLE, UNKNOWN, COMMITTED, ABSENT, NOT_STARTED ->
              throw unfit("an outcome of a read", "outcome");
        },
        answer(record));
  }

  private static OperationKey operation(OperationResult record) throws PoisonException {
    String operationId = record.getOperationId();
    if (operationId == null) {
      throw unfit("an operation", "operation_id");
    }
    return new OperationKey(record.getTenant(), record.getScope(), operationId);
  }

  private static AttemptOutcome attemptOutcome(Outcome outcome) throws PoisonException {
    return switch (outcome) {
      case SUCCEEDED -> AttemptOutcome.SUCCEEDED;
      case FAILED_RETRYABLE -> AttemptOutcome.FAILED_RETRYABLE;
      case FAILED_TERMINAL -> AttemptOutcome.FAILED_TERMINAL;
      case UNKNOWN -> AttemptOutcome.UNKNOWN;
      case UNRECOGNIZED, COMMITTED, ABSENT, NOT_STARTED ->
          throw unfit("an outcome of an attempt", "outcome");
    };
  }

  private static Found found(Outcome outcome) throws PoisonException {
    return switch (outcome) {
      case COMMITTED -> Found.COMMITTED;
      case ABSENT -> Found.ABSENT;
      case UNKNOWN -> Found.UNKNOWN;
      case UNRECOGNIZED, SUCCEEDED, FAILED_RETRYABLE, FAILED_TERMINAL, NOT_STARTED ->
          throw unfit("an outcome of a status read", "outcome");
    };
  }

  private static ResolvedAs resolvedAs(Outcome outcome) throws PoisonException {
    return switch (outcome) {
      case SUCCEEDED -> ResolvedAs.SUCCEEDED;
      case FAILED_TERMINAL -> ResolvedAs.FAILED_TERMINAL;
      case NOT_STARTED -> ResolvedAs.NOT_STARTED;
      case UNRECOGNIZED, FAILED_RETRYABLE, UNKNOWN, COMMITTED, ABSENT ->
          throw unfit("a settlement by a person", "outcome");
    };
  }

  private Answer answer(OperationResult record) {
    String body = record.getBody();
    BodyHandle handle =
        record.getBodyHandle() == null
            ? null
            : new BodyHandle(record.getBodyHandle().getSha256(), record.getBodyHandle().getBytes());
    if (body != null && body.length() > inlineBodyBytes / 3) {
      byte[] bytes = body.getBytes(UTF_8);
      if (bytes.length > inlineBodyBytes) {
        handle = new BodyHandle(sha256(bytes), bytes.length);
        body = null;
      }
    }
    String reference = record.getRemoteReference();
    return new Answer(
        // One that names nothing would make two effects the same.
        reference == null || reference.isBlank() ? null : reference,
        body,
        handle,
        record.getResultSchema(),
        record.getReason(),
        record.getRemoteStatus());
  }

  private static @Nullable Duration retryAfter(OperationResult record) {
    Long millis = record.getRetryAfterMs();
    return millis == null || millis < 0
        ? null
        : Duration.ofMillis(Math.min(millis, LONGEST_RETRY_AFTER.toMillis()));
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256, which every JDK has.", e);
    }
  }

  /** A large body is kept as its handle, so it is no reason to lose what became of an attempt. */
  private static void requireSize(
      byte @Nullable [] key, byte @Nullable [] value, @Nullable String body)
      throws PoisonException {
    long kept = value == null ? 0 : value.length;
    if (body != null && RefusedRecord.isTooLarge(key, kept)) {
      kept -= body.getBytes(UTF_8).length;
    }
    Decoding.requireSize(key, kept);
  }

  private static PoisonException unfit(String expected, String member) {
    return new PoisonException(
        Poison.contract(
            "RESULT_UNFIT",
            "Expected %s in the report, but its %s is not. Check which release of the executor reported."
                .formatted(expected, member)));
  }
}
