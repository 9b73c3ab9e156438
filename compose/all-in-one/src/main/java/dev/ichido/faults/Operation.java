package dev.ichido.faults;

import dev.ichido.outbox.OutboxIntent;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What an agent wants done, as it would write it down before its first try.
 *
 * @param business what the effect is for: the name under which the remote's book counts it
 */
record Operation(
    String tenant,
    String principal,
    String scope,
    String action,
    String id,
    String arguments,
    @Nullable String precondition,
    @Nullable String discriminator,
    Instant issuedAt,
    String business) {

  Operation withId(String other) {
    return new Operation(
        tenant,
        principal,
        scope,
        action,
        other,
        arguments,
        precondition,
        discriminator,
        issuedAt,
        business);
  }

  Operation withPrincipal(String otherTenant, String other) {
    return new Operation(
        otherTenant,
        other,
        scope,
        action,
        id,
        arguments,
        precondition,
        discriminator,
        issuedAt,
        business);
  }

  Operation withScope(String other) {
    return new Operation(
        tenant,
        principal,
        other,
        action,
        id,
        arguments,
        precondition,
        discriminator,
        issuedAt,
        business);
  }

  Operation withArguments(String json) {
    return new Operation(
        tenant,
        principal,
        scope,
        action,
        id,
        json,
        precondition,
        discriminator,
        issuedAt,
        business);
  }

  Operation withPrecondition(String version) {
    return new Operation(
        tenant,
        principal,
        scope,
        action,
        id,
        arguments,
        version,
        discriminator,
        issuedAt,
        business);
  }

  Operation withDiscriminator(String other) {
    return new Operation(
        tenant, principal, scope, action, id, arguments, precondition, other, issuedAt, business);
  }

  Operation withIssuedAt(Instant other) {
    return new Operation(
        tenant,
        principal,
        scope,
        action,
        id,
        arguments,
        precondition,
        discriminator,
        other,
        business);
  }

  Operation withBusiness(String other) {
    return new Operation(
        tenant,
        principal,
        scope,
        action,
        id,
        arguments,
        precondition,
        discriminator,
        issuedAt,
        other);
  }

  OutboxIntent toIntent(String deliveryId) {
    return OutboxIntent.execute()
        .tenant(tenant)
        .principal(principal)
        .scope(scope)
        .action(action)
        .operationId(id)
        .arguments(arguments)
        .precondition(precondition)
        .discriminator(discriminator)
        .issuedAt(issuedAt)
        .deliveryId(deliveryId)
        .build();
  }
}
