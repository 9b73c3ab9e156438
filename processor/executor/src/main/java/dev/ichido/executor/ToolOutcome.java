package dev.ichido.executor;

import org.jspecify.annotations.Nullable;

/** How an attempt, or a read, ended. Whoever is not sure says {@link Unknown}. */
public sealed interface ToolOutcome {

  CallFacts facts();

  /**
   * The effect took place (or the read was answered).
   *
   * @param reference the remote's own name of the effect
   * @param schema version of the body's schema
   */
  record Succeeded(
      @Nullable String reference,
      @Nullable ResultBody body,
      @Nullable Integer schema,
      CallFacts facts)
      implements ToolOutcome {}

  /** Proven not started: another attempt can't double the effect. */
  record FailedRetryable(String reason, @Nullable ResultBody body, CallFacts facts)
      implements ToolOutcome {}

  /** The remote refused for good, without an effect. */
  record FailedTerminal(String reason, @Nullable ResultBody body, CallFacts facts)
      implements ToolOutcome {}

  /** The effect may or may not have taken place. */
  record Unknown(String reason, @Nullable ResultBody body, CallFacts facts)
      implements ToolOutcome {}

  static ToolOutcome succeeded(@Nullable String reference, @Nullable String body) {
    return new Succeeded(
        reference, body == null ? null : ResultBody.text(body), null, CallFacts.ONE_CALL);
  }

  static ToolOutcome failedRetryable(String reason) {
    return new FailedRetryable(reason, null, CallFacts.NONE);
  }

  static ToolOutcome failedTerminal(String reason) {
    return new FailedTerminal(reason, null, CallFacts.ONE_CALL);
  }

  static ToolOutcome unknown(String reason) {
    return new Unknown(reason, null, CallFacts.ONE_CALL);
  }
}
