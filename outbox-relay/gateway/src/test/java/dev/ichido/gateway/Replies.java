package dev.ichido.gateway;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Replies as the inbox would hold them. */
final class Replies {
  static final Instant AT = Instant.parse("2026-11-29T12:00:00Z");

  private Replies() {}

  static Reply of(String verdict, @Nullable String state, boolean last) {
    return of(verdict, null, state, last, null, null, false);
  }

  static Reply refused(String verdict, @Nullable String code) {
    return of(verdict, code, null, true, null, null, false);
  }

  static Reply of(
      String verdict,
      @Nullable String code,
      @Nullable String state,
      boolean last,
      @Nullable String body,
      @Nullable Instant retryAt,
      boolean conflict) {
    return new Reply(
        1,
        "global",
        "operation-0123456789",
        "delivery",
        verdict,
        code,
        null,
        state,
        1,
        1,
        last,
        null,
        null,
        body,
        null,
        null,
        null,
        null,
        null,
        retryAt,
        List.of(),
        AT,
        conflict);
  }
}
