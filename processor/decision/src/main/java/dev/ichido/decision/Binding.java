package dev.ichido.decision;

import dev.ichido.operation.Intent;
import dev.ichido.operation.Principal;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an operation is bound to from its first claim on: who owns it and what it means.
 *
 * @param fingerprint null only when the operation was cancelled before an intent arrived
 * @param action null only when the operation was cancelled before an intent arrived
 * @param compensates operation id of the operation that this one undoes
 * @param compensatedBy operation id of the one operation that may undo this one; null while none
 *     was let
 */
public record Binding(
    Principal principal,
    @Nullable Fingerprint fingerprint,
    @Nullable String action,
    @Nullable String actionVersion,
    @Nullable String target,
    @Nullable String workflowId,
    @Nullable String step,
    @Nullable String compensates,
    @Nullable String compensatedBy) {
  public Binding {
    Objects.requireNonNull(principal, "principal");
  }

  static Binding of(Intent intent, Fingerprint fingerprint) {
    return new Binding(
        intent.principal(),
        fingerprint,
        intent.action(),
        intent.actionVersion(),
        intent.target(),
        intent.workflowId(),
        intent.step(),
        intent.compensates(),
        null);
  }

  static Binding ofCancel(Principal principal) {
    return new Binding(principal, null, null, null, null, null, null, null, null);
  }

  /** The bare identity that a tombstone keeps: nothing that only serves to name differences. */
  Binding bare() {
    Fingerprint whole = fingerprint;
    return whole == null
        ? this
        : new Binding(
            principal,
            whole.bare(),
            action,
            actionVersion,
            target,
            workflowId,
            step,
            compensates,
            compensatedBy);
  }

  Binding withCompensatedBy(@Nullable String operationId) {
    return new Binding(
        principal,
        fingerprint,
        action,
        actionVersion,
        target,
        workflowId,
        step,
        compensates,
        operationId);
  }
}
