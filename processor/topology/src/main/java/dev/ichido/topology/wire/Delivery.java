package dev.ichido.topology.wire;

import dev.ichido.operation.Intent;

/**
 * A decoded record of the intents topic.
 *
 * @param cancel whether it forbids further attempts instead of asking for the action
 * @param principalNamed whether the record named a principal at all
 */
public record Delivery(Intent intent, boolean cancel, boolean principalNamed) {}
