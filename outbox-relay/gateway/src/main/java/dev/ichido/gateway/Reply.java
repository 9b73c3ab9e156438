package dev.ichido.gateway;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A row of the inbox, as the door needs it. Verdicts, states and codes are open vocabularies.
 *
 * @param seq grows in the order in which replies became visible
 * @param last no further reply follows for this delivery
 * @param conflict two different truths were told about the operation, so its result is withheld
 */
record Reply(
    long seq,
    String scope,
    @Nullable String operationId,
    String deliveryId,
    String verdict,
    @Nullable String code,
    @Nullable String detail,
    @Nullable String state,
    int attempt,
    long revision,
    boolean last,
    @Nullable String marker,
    @Nullable String remoteReference,
    @Nullable String body,
    @Nullable String bodySha256,
    @Nullable Long bodyBytes,
    @Nullable Integer resultSchema,
    @Nullable Instant originalAt,
    @Nullable Instant leaseUntil,
    @Nullable Instant retryAt,
    List<String> differing,
    Instant decidedAt,
    boolean conflict) {
  Reply {
    differing = List.copyOf(differing);
  }

  /** What was decided; never the result. */
  @Override
  public String toString() {
    return verdict + " for " + deliveryId + " revision " + revision;
  }
}
