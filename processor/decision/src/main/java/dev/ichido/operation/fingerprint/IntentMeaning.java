package dev.ichido.operation.fingerprint;

import static java.util.Objects.requireNonNull;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an intent that carry its meaning. Delivery ids, headers, times and the principal are
 * none of them.
 *
 * @param arguments JSON text as the runtime wrote it
 * @param volatileMembers top-level members of the arguments that the action declares as volatile: a
 *     closed list
 */
public record IntentMeaning(
    String action,
    @Nullable String actionVersion,
    @Nullable String target,
    String arguments,
    @Nullable String precondition,
    Set<String> volatileMembers) {
  public IntentMeaning {
    requireNonNull(action, "action");
    requireNonNull(arguments, "arguments");
    volatileMembers = Set.copyOf(volatileMembers);
  }
}
