package dev.ichido.app;

import dev.ichido.cli.CommandException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Roles that live and end together. */
public final class RoleGroup implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RoleGroup.class);
  private static final Duration LOOK = Duration.ofMillis(20);

  private final List<RunningRole> roles;

  /** Starts nothing yet. */
  public RoleGroup(List<RunningRole> roles) {
    this.roles = List.copyOf(roles);
  }

  public List<RunningRole> roles() {
    return roles;
  }

  /** Starts all at the same time and returns when each has been told to. */
  public void start() throws InterruptedException {
    inParallel(roles.stream().map(role -> Executors.callable(role.start())).toList());
  }

  /**
   * Waits until every role does its work.
   *
   * @throws CommandException ROLE_FAILED, ROLE_NOT_READY
   */
  public void awaitReady(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    while (true) {
      requireAlive();
      List<String> waiting = new ArrayList<>();
      for (RunningRole role : roles) {
        if (!role.ready().getAsBoolean()) {
          waiting.add(role.name() + role.problem().get().map(it -> " (" + it + ")").orElse(""));
        }
      }
      if (waiting.isEmpty()) {
        return;
      }
      if (System.nanoTime() > end) {
        throw CommandException.failed(
            "ROLE_NOT_READY",
            "Expected every role to be ready within "
                + limit.toSeconds()
                + " s, but "
                + String.join(", ", waiting)
                + " is not. Check that broker, database and registry answer.",
            null);
      }
      pause();
    }
  }

  /**
   * Returns only by an interrupt or because a role stopped by itself.
   *
   * @throws CommandException ROLE_FAILED
   */
  public void awaitFailure(Supplier<Optional<Throwable>> server) throws InterruptedException {
    while (true) {
      requireAlive(server);
      pause();
    }
  }

  /**
   * As {@link #requireAlive()}, after a look at what the roles rest on.
   *
   * @param server why that stopped by itself, if it did
   */
  public void requireAlive(Supplier<Optional<Throwable>> server) {
    server
        .get()
        .ifPresent(
            cause -> {
              throw cause instanceof RuntimeException known
                  ? known
                  : new IllegalStateException(cause);
            });
    requireAlive();
  }

  /**
   * Says which role stopped by itself, if one did.
   *
   * @throws CommandException ROLE_FAILED
   */
  public void requireAlive() {
    for (RunningRole role : roles) {
      role.failure()
          .get()
          .ifPresent(
              cause -> {
                throw CommandException.failed(
                    "ROLE_FAILED",
                    "Expected the "
                        + role.name()
                        + " to run, but it stopped: "
                        + cause.getMessage(),
                    cause);
              });
    }
  }

  /** Closes all at the same time. */
  @Override
  public void close() {
    List<Callable<Object>> closings = new ArrayList<>();
    for (RunningRole role : roles) {
      closings.add(
          () -> {
            try {
              role.close().run();
            } catch (RuntimeException e) {
              LOG.warn("The {} did not close cleanly", role.name(), e);
            }
            return role;
          });
    }
    boolean interrupted = Thread.interrupted();
    try {
      inParallel(closings);
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void inParallel(List<Callable<Object>> works) throws InterruptedException {
    try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread::new)) {
      for (Future<Object> work : threads.invokeAll(works)) {
        work.get();
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  private static void pause() throws InterruptedException {
    LockSupport.parkNanos(LOOK.toNanos());
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }
}
