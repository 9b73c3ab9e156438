package dev.ichido.operation;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a runtime wants done, as it was written: one delivery of one operation.
 *
 * <p>Nothing is checked here but presence: a faulty intent must be representable, so that it can be
 * answered. What is wrong with it travels beside it as a {@link Refusal}.
 *
 * @param operationId the same over every retry; null in a read, or in an intent that is refused
 * @param deliveryId one transport try; never part of the identity
 * @param action null only in an intent that is refused
 * @param arguments JSON text as the runtime wrote it
 * @param precondition version of the resource that the effect depends on
 * @param discriminator tells a deliberate twin from a re-minted id
 * @param issuedAt when the operation was first issued; null only in an intent that is refused
 * @param compensates operation id of the operation that this one undoes
 */
public record Intent(
    String tenant,
    String scope,
    @Nullable String operationId,
    String deliveryId,
    Principal principal,
    @Nullable String action,
    @Nullable String actionVersion,
    @Nullable String target,
    String arguments,
    @Nullable String precondition,
    @Nullable String discriminator,
    @Nullable Instant issuedAt,
    @Nullable String workflowId,
    @Nullable String step,
    @Nullable String compensates) {

  public Intent {
    Objects.requireNonNull(tenant, "tenant");
    Objects.requireNonNull(scope, "scope");
    Objects.requireNonNull(deliveryId, "deliveryId");
    Objects.requireNonNull(principal, "principal");
    Objects.requireNonNull(arguments, "arguments");
  }

  /** Names the delivery and never the arguments, which may hold what must not be logged. */
  @Override
  public String toString() {
    return "Intent[" + tenant + ", " + scope + ", " + operationId + ", " + deliveryId + "]";
  }
}
