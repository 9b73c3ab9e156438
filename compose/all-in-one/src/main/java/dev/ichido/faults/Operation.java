package dev.ichido.faults;

import dev.ichido.outbox.OutboxIntent;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an agent wants done, as it would write it down before its first try.
 *
 * @param business what the effect is for: the name under which the remote's book counts it
 */
record Operation(Map<Part, String> parts, Instant issuedAt, String business) {
  /** What an intent is made of, beside its time. */
  enum Part {
    TENANT,
    PRINCIPAL,
    SCOPE,
    ACTION,
    VERSION,
    ID,
    TARGET,
    ARGUMENTS,
    PRECONDITION,
    DISCRIMINATOR,
    WORKFLOW,
    STEP,
    COMPENSATES
  }

  Operation {
    parts = Map.copyOf(parts);
  }

  Operation with(Part part, String value) {
    Map<Part, String> changed = new EnumMap<>(parts);
    changed.put(part, value);
    return new Operation(changed, issuedAt, business);
  }

  Operation withIssuedAt(Instant other) {
    return new Operation(parts, other, business);
  }

  Operation withBusiness(String other) {
    return new Operation(parts, issuedAt, other);
  }

  String tenant() {
    return required(Part.TENANT);
  }

  String scope() {
    return required(Part.SCOPE);
  }

  String action() {
    return required(Part.ACTION);
  }

  String id() {
    return required(Part.ID);
  }

  String arguments() {
    return required(Part.ARGUMENTS);
  }

  OutboxIntent toIntent(String deliveryId) {
    return OutboxIntent.execute()
        .tenant(tenant())
        .principal(required(Part.PRINCIPAL))
        .scope(scope())
        .action(action())
        .actionVersion(parts.get(Part.VERSION))
        .operationId(id())
        .target(parts.get(Part.TARGET))
        .arguments(arguments())
        .precondition(parts.get(Part.PRECONDITION))
        .discriminator(parts.get(Part.DISCRIMINATOR))
        .workflowId(parts.get(Part.WORKFLOW))
        .step(parts.get(Part.STEP))
        .compensates(parts.get(Part.COMPENSATES))
        .issuedAt(issuedAt)
        .deliveryId(deliveryId)
        .build();
  }

  private String required(Part part) {
    @Nullable String value = parts.get(part);
    if (value == null) {
      throw new IllegalStateException("Expected every operation to have " + part + ".");
    }
    return value;
  }
}
