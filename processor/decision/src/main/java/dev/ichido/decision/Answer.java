package dev.ichido.decision;

import org.jspecify.annotations.Nullable;

/**
 * What the remote answered, as an executor or a person reports it.
 *
 * @param remoteReference the remote's own name of the effect; null counts as another one than any
 * @param body the remote's answer as text; null when there is none or it is kept under a handle
 * @param schema version of the body's schema, as the executor states it
 * @param reason a stable code of why, such as {@code CONNECT_REFUSED} or {@code REVOKED}
 * @param status status code of the remote's answer
 */
public record Answer(
    @Nullable String remoteReference,
    @Nullable String body,
    @Nullable BodyHandle handle,
    @Nullable Integer schema,
    @Nullable String reason,
    @Nullable Integer status) {
  /** No answer. */
  public static final Answer NONE = new Answer(null, null, null, null, null, null);

  /** An answer of nothing but a reference and a body. */
  public static Answer of(@Nullable String remoteReference, @Nullable String body) {
    return new Answer(remoteReference, body, null, null, null, null);
  }

  /** Names the reference and never the body. */
  @Override
  public String toString() {
    return "Answer[" + remoteReference + ", " + reason + ", " + status + "]";
  }
}
