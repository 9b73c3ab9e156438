package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.operation.OperationKey;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/** Writes the records that the steps of a scenario stand for. */
final class StepRecords {
  private final Topics topics;
  private final Serializer<ToolIntent> intents;
  private final Serializer<OperationResult> results;
  private final Function<String, OperationState> states;
  private final Map<String, Instant> firstIssued = new HashMap<>();

  /**
   * A record that a step sends.
   *
   * @param delivery its delivery id; null for a report
   */
  @SuppressWarnings("ArrayRecordComponent") // Sent again as it is, never compared.
  record Sent(String recordKey, byte[] value, @Nullable String delivery) {
    byte[] key() {
      return recordKey.getBytes(UTF_8);
    }
  }

  /** Records whose reports name an attempt only where their steps do. */
  StepRecords(Topics topics, RecordSerdes serdes) {
    this(topics, serdes, key -> Absent.NOTHING);
  }

  /**
   * Records whose reports are about the current attempt where their steps name none. Sent again,
   * they stay about that one.
   *
   * @param states of operations, by record key
   */
  StepRecords(Topics topics, RecordSerdes serdes, Function<String, OperationState> states) {
    this.topics = topics;
    this.states = states;
    this.intents = serdes.serializer(ToolIntent.class);
    this.results = serdes.serializer(OperationResult.class);
  }

  Sent intent(int step, Step.Intent intent, Instant now) {
    String delivery = intent.delivery() == null ? "delivery-" + step : intent.delivery();
    String key = recordKey(intent.address(), delivery);
    Instant issuedAt = issuedAt(step, key, intent.issuedAt(), now);
    if (issuedAt != null) {
      firstIssued.putIfAbsent(key, issuedAt);
    }
    ToolIntent record =
        ToolIntent.newBuilder()
            .setKind(IntentKind.EXECUTE)
            .setTenant(intent.address().tenant())
            .setScope(intent.address().scope())
            .setOperationId(intent.address().operation())
            .setDeliveryId(delivery)
            .setPrincipal(intent.principal())
            .setAction(intent.action())
            .setActionVersion(intent.actionVersion())
            .setTarget(intent.target())
            .setArguments(intent.arguments())
            .setPrecondition(intent.precondition())
            .setDiscriminator(intent.discriminator())
            .setIssuedAt(issuedAt)
            .setWorkflowId(intent.workflowId())
            .setStep(intent.step())
            .setCompensates(intent.compensates())
            .build();
    return new Sent(key, intents.serialize(topics.intents(), record), delivery);
  }

  Sent cancel(int step, Step.Cancel cancel, Instant now) {
    String delivery = "delivery-" + step;
    String key = recordKey(cancel.address(), delivery);
    ToolIntent record =
        ToolIntent.newBuilder()
            .setKind(IntentKind.CANCEL)
            .setTenant(cancel.address().tenant())
            .setScope(cancel.address().scope())
            .setOperationId(cancel.address().operation())
            .setDeliveryId(delivery)
            .setPrincipal(cancel.principal())
            .setAction(cancel.action())
            .setIssuedAt(issuedAt(step, key, cancel.issuedAt(), now))
            .build();
    return new Sent(key, intents.serialize(topics.intents(), record), delivery);
  }

  /**
   * The report of an executor.
   *
   * @param read the read command that is answered; null when an attempt is reported on
   */
  Sent result(int step, Step.Result result, @Nullable SideEffectCommand read, Instant now) {
    String body =
        result.bodyBytes() == null ? result.body() : "x".repeat(Math.max(0, result.bodyBytes()));
    OperationResult.Builder record =
        report(step, result.address(), now)
            .setOutcome(outcome(step, result.outcome()))
            .setRemoteReference(result.remoteReference())
            .setBody(body)
            .setResultSchema(result.schema())
            .setRetryAfterMs(result.retryAfterMs());
    if (read == null) {
      record.setKind(ResultKind.ATTEMPT).setAttempt(attempt(result.address(), result.attempt()));
    } else {
      record
          .setKind(ResultKind.READ)
          .setDeliveryId(read.getDeliveryId())
          .setPrincipal(read.getPrincipal());
    }
    return sent(result.address(), record);
  }

  Sent reconcile(int step, Step.Reconcile reconcile, Instant now) {
    return sent(
        reconcile.address(),
        report(step, reconcile.address(), now)
            .setKind(ResultKind.RECONCILE)
            .setAttempt(attempt(reconcile.address(), reconcile.attempt()))
            .setOutcome(outcome(step, reconcile.found()))
            .setRemoteReference(reconcile.remoteReference())
            .setBody(reconcile.body()));
  }

  Sent resolve(int step, Step.Resolve resolve, Instant now) {
    return sent(
        resolve.address(),
        report(step, resolve.address(), now)
            .setKind(ResultKind.RESOLVE)
            .setAttempt(attempt(resolve.address(), null))
            .setOutcome(outcome(step, resolve.as()))
            .setReportedBy(resolve.by())
            .setEvidence(resolve.evidence()));
  }

  private @Nullable Integer attempt(Step.Address address, @Nullable Integer named) {
    if (named != null) {
      return named;
    }
    return states.apply(recordKey(address, "")) instanceof Known known && known.attempt() > 0
        ? known.attempt()
        : null;
  }

  private static OperationResult.Builder report(int step, Step.Address address, Instant now) {
    return OperationResult.newBuilder()
        .setResultId("result-" + step)
        .setTenant(address.tenant())
        .setScope(address.scope())
        .setOperationId(address.operation())
        .setReportedAt(now);
  }

  private Sent sent(Step.Address address, OperationResult.Builder record) {
    return new Sent(
        recordKey(address, ""), results.serialize(topics.results(), record.build()), null);
  }

  private static Outcome outcome(int step, String text) {
    try {
      return Outcome.valueOf(text);
    } catch (IllegalArgumentException e) {
      throw ScenarioException.wrong("steps[" + step + "] " + text, "an outcome");
    }
  }

  /** As every producer makes keys: the operation's, or the delivery's where there is none. */
  static String recordKey(Step.Address address, String delivery) {
    String operation = address.operation();
    return operation == null
        ? "d1"
            + new OperationKey(address.tenant(), address.scope(), delivery).recordKey().substring(2)
        : new OperationKey(address.tenant(), address.scope(), operation).recordKey();
  }

  private @Nullable Instant issuedAt(int step, String key, @Nullable String text, Instant now) {
    if (text == null) {
      return null;
    }
    if (text.equals("@first")) {
      return firstIssued.getOrDefault(key, now);
    }
    String where = "steps[" + step + "] issued_at";
    if (text.startsWith("+") || text.startsWith("-")) {
      Duration offset = Step.duration(where, text.substring(1));
      return text.startsWith("+") ? now.plus(offset) : now.minus(offset);
    }
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw ScenarioException.wrong(where, "@first, an offset such as -25h, or a time");
    }
  }
}
