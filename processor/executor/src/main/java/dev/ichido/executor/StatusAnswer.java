package dev.ichido.executor;

import org.jspecify.annotations.Nullable;

/** What a status read told about an operation. */
public sealed interface StatusAnswer {

  CallFacts facts();

  /**
   * The remote holds the effect.
   *
   * @param schema version of the body's schema
   */
  record Committed(
      @Nullable String reference,
      @Nullable ResultBody body,
      @Nullable Integer schema,
      CallFacts facts)
      implements StatusAnswer {}

  /**
   * The remote does not hold the effect, now. One such answer proves nothing; how many over what
   * time do is the action's policy.
   */
  record Absent(@Nullable String reason, CallFacts facts) implements StatusAnswer {}

  /** The remote could not tell. */
  record Undetermined(String reason, CallFacts facts) implements StatusAnswer {}
}
