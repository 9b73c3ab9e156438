package dev.ichido.junit;

import dev.ichido.executor.CallFacts;
import dev.ichido.executor.StatusAnswer;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.ToolOutcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;

/**
 * A remote that keeps a book of its effects and fails when told to. It knows no idempotency key, so
 * that whatever is called twice takes effect twice; a status read tells what is in the book. Give
 * it to {@link Ichido#handle} in the place of the real one.
 */
public final class BookedRemote implements ToolHandler {
  private final List<Effect> book = new ArrayList<>();
  private final Queue<Fault> faults = new ArrayDeque<>();

  /**
   * One effect.
   *
   * @param reference the remote's own name of it
   */
  public record Effect(
      String reference, String tenant, String scope, String operationId, String arguments) {}

  /** What goes wrong with a call. */
  public enum Fault {
    /** It takes effect, and the answer does not arrive. */
    LOSES_ANSWER,
    /** It provably does not arrive, so that another attempt is safe. */
    REFUSES_CONNECTION,
    /** It is refused for good, without an effect. */
    REFUSES,
    /**
     * It takes effect, and the executor dies before it has heard. Start it again with {@link
     * Ichido#restart}.
     */
    KILLS_EXECUTOR
  }

  /** The executor's death in the middle of a call. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1L;

    Killed() {
      super("The executor was killed by the test.");
    }
  }

  /** The next calls go wrong, one for each fault, in this order. */
  public synchronized void failNext(Fault... next) {
    faults.addAll(List.of(next));
  }

  /** Everything that took effect. */
  public synchronized List<Effect> effects() {
    return List.copyOf(book);
  }

  /** What took effect for one operation; more than one is what must never be. */
  public synchronized List<Effect> effects(String operationId) {
    return book.stream().filter(it -> it.operationId().equals(operationId)).toList();
  }

  @Override
  public synchronized ToolOutcome execute(ToolCommand command) {
    Fault fault = faults.poll();
    if (fault == Fault.REFUSES_CONNECTION) {
      return ToolOutcome.failedRetryable("CONNECT_REFUSED");
    }
    if (fault == Fault.REFUSES) {
      return ToolOutcome.failedTerminal("REFUSED");
    }
    Effect effect =
        new Effect(
            "effect-" + (book.size() + 1),
            command.tenant(),
            command.scope(),
            String.valueOf(command.operationId()),
            command.arguments());
    book.add(effect);
    if (fault == Fault.KILLS_EXECUTOR) {
      throw new Killed();
    }
    return fault == Fault.LOSES_ANSWER
        ? ToolOutcome.unknown("ANSWER_LOST")
        : ToolOutcome.succeeded(effect.reference(), "{\"effect\":\"" + effect.reference() + "\"}");
  }

  @Override
  public synchronized StatusAnswer readStatus(ToolCommand command) {
    Optional<Effect> found =
        book.stream()
            .filter(
                it ->
                    it.tenant().equals(command.tenant())
                        && it.scope().equals(command.scope())
                        && it.operationId().equals(command.operationId()))
            .findFirst();
    return found.isPresent()
        ? new StatusAnswer.Committed(found.get().reference(), null, null, CallFacts.ONE_CALL)
        : new StatusAnswer.Absent(null, CallFacts.ONE_CALL);
  }
}
