package dev.ichido.topology.wire;

import dev.ichido.operation.Intent;

/**
 * A decoded record of the intents topic.
 *
 * @param recordKey under which it came, which is the one that its content asks for
 * @param cancel whether it forbids further attempts instead of asking for the action
 * @param principalNamed whether the record named a principal at all
 */
public record Delivery(Intent intent, String recordKey, boolean cancel, boolean principalNamed) {}
