package dev.ichido.executor;

/**
 * Performs the commands of one or more actions. Called on a virtual thread, for each attempt at
 * most once in the life of the system; an exception, an interruption included, is taken as {@link
 * ToolOutcome.Unknown}.
 *
 * <p>An implementor must not retry by itself after a byte was sent, and must switch off the hidden
 * retries of the library that it uses, or give the remote {@link ToolCommand#downstreamKey()}.
 */
public interface ToolHandler {

  /** Performs the effect. */
  ToolOutcome execute(ToolCommand command) throws Exception;

  /** Performs a read; nothing is claimed and nothing is kept. */
  default ToolOutcome read(ToolCommand command) throws Exception {
    return execute(command);
  }

  /** Asks the remote whether the operation's effect took place. It must have no effect itself. */
  default StatusAnswer readStatus(ToolCommand command) throws Exception {
    return new StatusAnswer.Undetermined("NO_STATUS_READ", CallFacts.NONE);
  }

  /**
   * Name of the remote. Handlers of one remote share its bound on concurrent calls and its circuit
   * breaker.
   */
  default String remote() {
    return getClass().getSimpleName();
  }
}
