package dev.ichido.simulation;

import dev.ichido.decision.OperationState;
import dev.ichido.simulation.Processors.Made;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Another make of the processors, that goes along with the model step by step and may object. */
interface Beside {
  /** Nothing goes along. */
  Beside NOTHING = new Beside() {};

  /**
   * One step of a processor.
   *
   * @param read what it took; null when it swept a deadline
   * @param made what it decided; null when it passed on what it took
   * @param posted what it tells other operations and the index of meanings
   * @param heardUntil all that was sent until then is read
   * @param states of the operations, after it
   */
  record Step(
      int processor,
      @Nullable Read read,
      @Nullable Made made,
      List<Mail> posted,
      Instant heardUntil,
      List<OperationState> states) {}

  /** A processor goes on from what is kept. */
  default void starts(int processor) {}

  default void takes(Step step) {}

  /** What it did since it committed last is kept. */
  default void commits(int processor) {}

  /** What it did since it committed last is lost. */
  default void stops(int processor) {}
}
