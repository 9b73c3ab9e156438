package dev.ichido.inbox;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a runtime is told about one delivery.
 *
 * @param seq position of the row, growing in the order in which replies became visible; 0 before it
 *     is stored
 * @param isFinal no further reply follows for this delivery
 * @param marker EXECUTED, REPLAYED or RECONCILED; null where no result is released
 * @param bodySha256 handle of a body that is kept in {@code ichido.result_body}
 * @param conflict two different truths were told about the operation, so its result is withheld
 */
public record InboxReply(
    long seq,
    String tenant,
    String scope,
    @Nullable String operationId,
    String deliveryId,
    String principal,
    String verdict,
    @Nullable String code,
    @Nullable String detail,
    @Nullable String state,
    int attempt,
    long revision,
    boolean isFinal,
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
    @Nullable String traceparent,
    boolean conflict) {

  public InboxReply {
    differing = List.copyOf(differing);
  }

  /** Whose reply it is and what was decided; never the result. */
  @Override
  public String toString() {
    return verdict + " for " + deliveryId + " revision " + revision;
  }
}
