package dev.ichido.topology.policy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The policy of a file that is read again when its text changes. A text that cannot be loaded is
 * refused: the policy before stays, the refusal is logged and counted.
 */
public final class PolicyFile implements Supplier<PolicySet>, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PolicyFile.class);

  private final Path file;
  private final Function<LocatedTree, PolicySet> load;
  private final AtomicInteger refusals = new AtomicInteger();
  private final ScheduledExecutorService watcher;
  private String seen;
  private volatile PolicySet current;

  /**
   * Loads the file; from then on {@link #get()} gives what was loaded last.
   *
   * @param every how often the file is looked at
   * @throws PolicyException when the first text cannot be loaded
   */
  public PolicyFile(Path file, Function<LocatedTree, PolicySet> load, Duration every) {
    this.file = file;
    this.load = load;
    this.seen = text();
    this.current = load.apply(LocatedTree.read(name(), seen));
    this.watcher =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "ichido-policy");
              thread.setDaemon(true);
              return thread;
            });
    var unused =
        watcher.scheduleWithFixedDelay(
            this::reload, every.toMillis(), every.toMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public PolicySet get() {
    return current;
  }

  /** How many changed texts were refused. */
  public int refusals() {
    return refusals.get();
  }

  /** Looks at the file now. */
  public synchronized void reload() {
    try {
      String text = text();
      if (text.equals(seen)) {
        return;
      }
      seen = text;
      current = load.apply(LocatedTree.read(name(), text));
      LOG.info("Policy loaded from {}.", name());
    } catch (PolicyException e) {
      refusals.incrementAndGet();
      LOG.error("Policy refused, the one before stays: {} {}", e.code(), e.getMessage());
    }
  }

  @Override
  public void close() {
    watcher.shutdownNow();
  }

  private String text() {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw PolicyException.notReadable(name(), "it could not be read", e);
    }
  }

  private String name() {
    return String.valueOf(file.getFileName());
  }
}
