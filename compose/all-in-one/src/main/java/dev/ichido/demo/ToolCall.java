package dev.ichido.demo;

import org.jspecify.annotations.Nullable;

/**
 * One tool call of an agent run, as an input line states it.
 *
 * @param line number of the line, from 1
 * @param arguments JSON text exactly as it stood in the line
 * @param operationId null: derived from run, step and toolCallId
 */
public record ToolCall(
    int line,
    String tool,
    String arguments,
    @Nullable String tenant,
    @Nullable String operationId,
    @Nullable String run,
    @Nullable String step,
    @Nullable String toolCallId,
    Effect effect,
    @Nullable String target) {

  /** Whether the tool changes something. */
  public enum Effect {
    READ,
    WRITE
  }

  boolean isWrite() {
    return effect == Effect.WRITE;
  }

  /** Names the line and the tool; arguments may be private. */
  @Override
  public String toString() {
    return "ToolCall[line " + line + ", " + tool + "]";
  }
}
