package dev.ichido.topology.policy;

import dev.ichido.decision.ActionPolicy;
import java.util.Optional;

/**
 * An action with everything compiled that the policy says of it.
 *
 * @param policy what the decision reads
 * @param authorize who may do it
 * @param schema shape of its arguments, where one is stated
 */
public record ActionRules(
    ActionPolicy policy, Authorization authorize, Optional<ArgumentsSchema> schema) {}
