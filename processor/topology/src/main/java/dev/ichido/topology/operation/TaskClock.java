package dev.ichido.topology.operation;

import java.time.Instant;
import org.apache.kafka.streams.processor.api.ProcessorContext;

/** The wall clock of a task. It never steps back while the task runs. */
final class TaskClock {
  private final ProcessorContext<?, ?> context;
  private long latest = Long.MIN_VALUE;

  TaskClock(ProcessorContext<?, ?> context) {
    this.context = context;
  }

  Instant now() {
    latest = Math.max(latest, context.currentSystemTimeMs());
    return Instant.ofEpochMilli(latest);
  }
}
