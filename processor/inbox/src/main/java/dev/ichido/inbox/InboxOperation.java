package dev.ichido.inbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The latest that is known of an operation.
 *
 * @param conflict two different truths were told under one revision, so the result is withheld
 */
public record InboxOperation(
    String tenant,
    String scope,
    String operationId,
    long revision,
    String state,
    @Nullable String remoteReference,
    @Nullable String body,
    @Nullable String bodySha256,
    @Nullable Instant originalAt,
    boolean conflict) {

  /** The operation and its state; never the result. */
  @Override
  public String toString() {
    return tenant + "/" + scope + "/" + operationId + " " + state + " revision " + revision;
  }
}
