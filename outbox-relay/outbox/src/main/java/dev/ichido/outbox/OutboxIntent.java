package dev.ichido.outbox;

import dev.ichido.outbox.InvalidIntentException.Code;
import dev.ichido.outbox.InvalidIntentException.Problem;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an agent runtime wants done. One is written for every delivery of an operation; the
 * operation is named by tenant, scope and operation id, and these, as well as {@code issuedAt}, are
 * the same over every retry.
 *
 * <p>No operation id is ever minted here: one minted inside a retry would be another operation
 * every time, and its effect would happen again.
 *
 * @param operationId null only for a read
 * @param action named as in the policy; null only for a CANCEL
 * @param arguments JSON text, kept as it is
 * @param issuedAt when the operation was first issued, to the microsecond
 * @param deliveryId names this delivery; null lets the database mint one
 * @param traceparent W3C trace context, carried along
 */
public record OutboxIntent(
    IntentKind kind,
    String tenant,
    String scope,
    @Nullable String operationId,
    String principal,
    @Nullable String action,
    @Nullable String actionVersion,
    @Nullable String target,
    String arguments,
    @Nullable String precondition,
    @Nullable String discriminator,
    Instant issuedAt,
    @Nullable String workflowId,
    @Nullable String step,
    @Nullable String compensates,
    @Nullable String deliveryId,
    @Nullable String traceparent) {

  /**
   * Longest text of a field other than the arguments, in UTF-16 units; publish_intent refuses more
   * characters than that.
   */
  public static final int MAX_TEXT = 4_096;

  /** Longest arguments, in bytes of UTF-8; the processor refuses more. */
  public static final int MAX_ARGUMENTS_BYTES = 1_024 * 1_024;

  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999999Z");

  /**
   * Checks the values; {@link #execute()}, {@link #read()} and {@link #cancel()} also check what is
   * required.
   */
  public OutboxIntent {
    List<Problem> problems = new ArrayList<>();
    checkText(problems, "tenant", tenant);
    checkText(problems, "principal", principal);
    checkText(problems, "action", action);
    checkText(problems, "operation_id", operationId);
    checkText(problems, "scope", scope);
    checkText(problems, "action_version", actionVersion);
    checkText(problems, "target", target);
    checkText(problems, "precondition", precondition);
    checkText(problems, "discriminator", discriminator);
    checkText(problems, "workflow_id", workflowId);
    checkText(problems, "step", step);
    checkText(problems, "compensates", compensates);
    checkText(problems, "delivery_id", deliveryId);
    checkText(problems, "traceparent", traceparent);
    checkNamed(problems, "principal", principal);
    checkNamed(problems, "delivery_id", deliveryId);
    if (!storable(arguments)) {
      problems.add(new Problem("arguments", Code.CHARACTER));
    } else if (arguments.length() > MAX_ARGUMENTS_BYTES
        || arguments.getBytes(StandardCharsets.UTF_8).length > MAX_ARGUMENTS_BYTES) {
      problems.add(new Problem("arguments", Code.TOO_LONG));
    }
    if (issuedAt.isBefore(Instant.EPOCH) || issuedAt.isAfter(LAST)) {
      problems.add(new Problem("issued_at", Code.OUT_OF_RANGE));
    }
    if (kind == IntentKind.CANCEL && operationId == null) {
      problems.add(new Problem("operation_id", Code.MISSING));
    }
    if (kind == IntentKind.EXECUTE && action == null) {
      problems.add(new Problem("action", Code.MISSING));
    }
    if (!problems.isEmpty()) {
      throw InvalidIntentException.of(problems);
    }
    issuedAt = issuedAt.truncatedTo(ChronoUnit.MICROS);
  }

  /**
   * An intent to do something: tenant, principal, action, operation id and issued-at are required.
   */
  public static Builder execute() {
    return new Builder(IntentKind.EXECUTE, true);
  }

  /**
   * An intent to read: as {@link #execute()}, but without an operation id. An action that the
   * policy declares a write is refused without one.
   */
  public static Builder read() {
    return new Builder(IntentKind.EXECUTE, false);
  }

  /**
   * Forbids further attempts of an operation: tenant, principal, operation id and issued-at are
   * required. Issued-at is that of the operation, as its intent says it: what was issued longer ago
   * than anything is remembered may have taken effect, and is refused instead of cancelled.
   */
  public static Builder cancel() {
    return new Builder(IntentKind.CANCEL, true);
  }

  private static void checkText(List<Problem> problems, String field, @Nullable String value) {
    if (value == null) {
      return;
    }
    if (value.isEmpty()) {
      problems.add(new Problem(field, Code.EMPTY));
    } else if (value.length() > MAX_TEXT) {
      problems.add(new Problem(field, Code.TOO_LONG));
    } else if (!storable(value)) {
      problems.add(new Problem(field, Code.CHARACTER));
    }
  }

  /** To the processor a blank one is none, and it could not answer to it. */
  private static void checkNamed(List<Problem> problems, String field, @Nullable String value) {
    if (value != null && !value.isEmpty() && value.isBlank()) {
      problems.add(new Problem(field, Code.BLANK));
    }
  }

  private static boolean storable(String value) {
    // A surrogate that is part of a pair is no code point of its own.
    return value
        .codePoints()
        .noneMatch(c -> c == 0 || (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE));
  }

  /** Names only: arguments and target may be private. */
  @Override
  public String toString() {
    return "OutboxIntent[" + kind + " " + tenant + "/" + scope + "/" + operationId + "]";
  }

  /**
   * Collects the fields; {@link #build()} checks them all and reports all that is wrong at once.
   */
  public static final class Builder {
    private final IntentKind kind;
    private final boolean identityRequired;
    private @Nullable String tenant;
    private String scope = "global";
    private @Nullable String operationId;
    private @Nullable String principal;
    private @Nullable String action;
    private @Nullable String actionVersion;
    private @Nullable String target;
    private String arguments = "{}";
    private @Nullable String precondition;
    private @Nullable String discriminator;
    private @Nullable Instant issuedAt;
    private @Nullable String workflowId;
    private @Nullable String step;
    private @Nullable String compensates;
    private @Nullable String deliveryId;
    private @Nullable String traceparent;

    private Builder(IntentKind kind, boolean identityRequired) {
      this.kind = kind;
      this.identityRequired = identityRequired;
    }

    public Builder tenant(String value) {
      tenant = value;
      return this;
    }

    /** Where the remote's own dedupe holds: global (the default), region:NAME or zone:NAME. */
    public Builder scope(String value) {
      scope = value;
      return this;
    }

    /**
     * The business act; minted before the first try, kept with the runtime's own state, and used on
     * every retry.
     */
    public Builder operationId(String value) {
      operationId = value;
      return this;
    }

    /** Who asks. */
    public Builder principal(String value) {
      principal = value;
      return this;
    }

    public Builder action(@Nullable String value) {
      action = value;
      return this;
    }

    public Builder actionVersion(@Nullable String value) {
      actionVersion = value;
      return this;
    }

    /** What the action is done to. */
    public Builder target(@Nullable String value) {
      target = value;
      return this;
    }

    /** JSON text; {@code {}} by default. */
    public Builder arguments(String json) {
      arguments = json;
      return this;
    }

    /** Version of the resource that the effect depends on. */
    public Builder precondition(@Nullable String value) {
      precondition = value;
      return this;
    }

    /** Tells a deliberate twin from an operation that was given a new id by mistake. */
    public Builder discriminator(@Nullable String value) {
      discriminator = value;
      return this;
    }

    /** When the operation was first issued; a retry keeps it. */
    public Builder issuedAt(Instant value) {
      issuedAt = value;
      return this;
    }

    public Builder workflowId(@Nullable String value) {
      workflowId = value;
      return this;
    }

    public Builder step(@Nullable String value) {
      step = value;
      return this;
    }

    /** Operation id of the operation that this one undoes. */
    public Builder compensates(@Nullable String value) {
      compensates = value;
      return this;
    }

    public Builder deliveryId(@Nullable String value) {
      deliveryId = value;
      return this;
    }

    public Builder traceparent(@Nullable String value) {
      traceparent = value;
      return this;
    }

    /**
     * The intent, checked.
     *
     * @throws InvalidIntentException naming every bad field
     */
    public OutboxIntent build() {
      List<Problem> missing = new ArrayList<>();
      String tenantSet = required(missing, "tenant", tenant);
      String principalSet = required(missing, "principal", principal);
      if (kind == IntentKind.EXECUTE) {
        required(missing, "action", action);
      }
      if (identityRequired) {
        required(missing, "operation_id", operationId);
      }
      Instant issuedAtSet = issuedAt == null ? Instant.EPOCH : issuedAt;
      if (issuedAt == null) {
        missing.add(new Problem("issued_at", Code.MISSING));
      }
      if (!missing.isEmpty()) {
        throw InvalidIntentException.of(missing);
      }
      return new OutboxIntent(
          kind,
          tenantSet,
          scope,
          operationId,
          principalSet,
          action,
          actionVersion,
          target,
          arguments,
          precondition,
          discriminator,
          issuedAtSet,
          workflowId,
          step,
          compensates,
          deliveryId,
          traceparent);
    }

    private static String required(List<Problem> missing, String field, @Nullable String value) {
      if (value == null) {
        missing.add(new Problem(field, Code.MISSING));
        return "";
      }
      return value;
    }
  }
}
