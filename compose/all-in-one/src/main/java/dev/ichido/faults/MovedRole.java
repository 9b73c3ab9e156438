package dev.ichido.faults;

import dev.ichido.app.Clocks;
import dev.ichido.app.LivePolicy;
import dev.ichido.app.LoneRole;
import java.nio.file.Path;
import java.time.Duration;

/** A role whose clock is wrong, as a process of its own: {@code ROLE CONFIG PORT OFFSET}. */
final class MovedRole {
  private MovedRole() {}

  /** Runs until it is killed. */
  public static void main(String[] arguments) throws InterruptedException {
    try (LivePolicy policy = LivePolicy.of(Path.of(arguments[1]));
        LoneRole role =
            LoneRole.start(
                LoneRole.Kind.valueOf(arguments[0]),
                policy.config().withHttpPort(Integer.parseInt(arguments[2])),
                policy,
                Clocks.moved(Duration.parse(arguments[3])))) {
      role.awaitFailure();
    }
  }
}
