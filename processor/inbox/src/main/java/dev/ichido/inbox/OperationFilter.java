package dev.ichido.inbox;

import org.jspecify.annotations.Nullable;

/**
 * Which operations are looked for; a member that is null means any.
 *
 * @param state as on the wire, such as UNKNOWN_RECONCILIATION
 * @param principal that the operation is bound to
 */
public record OperationFilter(
    @Nullable String tenant,
    @Nullable String state,
    @Nullable String action,
    @Nullable String principal) {
  /** Every operation. */
  public static final OperationFilter ANY = new OperationFilter(null, null, null, null);
}
