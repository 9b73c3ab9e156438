package dev.ichido.junit;

import dev.ichido.executor.CallFacts;
import dev.ichido.executor.StatusAnswer;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.ToolOutcome;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Stands in the executor for whatever handler the test gives the action, now or later. */
final class GivenHandler implements ToolHandler {
  private static final String NONE = "NO_HANDLER";

  private final String action;
  private final Map<String, ToolHandler> handlers;

  GivenHandler(String action, Map<String, ToolHandler> handlers) {
    this.action = action;
    this.handlers = handlers;
  }

  @Override
  public String remote() {
    return action;
  }

  @Override
  public ToolOutcome execute(ToolCommand command) throws Exception {
    ToolHandler handler = find();
    return handler == null ? ToolOutcome.failedRetryable(NONE) : handler.execute(command);
  }

  @Override
  public ToolOutcome read(ToolCommand command) throws Exception {
    ToolHandler handler = find();
    return handler == null ? ToolOutcome.failedTerminal(NONE) : handler.read(command);
  }

  @Override
  public StatusAnswer readStatus(ToolCommand command) throws Exception {
    ToolHandler handler = find();
    return handler == null
        ? new StatusAnswer.Undetermined(NONE, CallFacts.NONE)
        : handler.readStatus(command);
  }

  private @Nullable ToolHandler find() {
    return handlers.get(action);
  }
}
