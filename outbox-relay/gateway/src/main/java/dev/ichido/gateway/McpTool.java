package dev.ichido.gateway;

import dev.ichido.outbox.KeyFields;
import org.jspecify.annotations.Nullable;

/**
 * What the policy says of a tool.
 *
 * @param action its name in the policy
 * @param read whether it changes nothing, whatever its annotations say
 * @param retried whether the next attempt of a call that provably did nothing begins by itself
 * @param identity arguments that tell one operation from every other; null where none are declared
 */
public record McpTool(String action, boolean read, boolean retried, @Nullable KeyFields identity) {}
