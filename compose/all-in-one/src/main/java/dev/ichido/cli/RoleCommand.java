package dev.ichido.cli;

import dev.ichido.app.LivePolicy;
import dev.ichido.app.LoneRole;
import dev.ichido.config.IchidoConfig;
import dev.ichido.relay.SlotLoss;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** One role alone, against servers that exist. */
abstract class RoleCommand implements Callable<Integer> {
  private final LoneRole.Kind kind;

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private ConfigOption config = new ConfigOption();

  @Option(
      names = "--http-port",
      paramLabel = "N",
      description = "Health and metrics, instead of http.port.")
  private @Nullable Integer httpPort;

  RoleCommand(LoneRole.Kind kind) {
    this.kind = kind;
  }

  @Override
  public Integer call() throws InterruptedException {
    Output output = Output.of(spec);
    Shutdown.guard(Thread.currentThread());
    try (LivePolicy policy = config.loadLive();
        LoneRole role = LoneRole.start(kind, adjusted(withPort(policy.config())), policy)) {
      output.progress(kind.word() + " is ready; health and metrics at " + role.httpUrl());
      role.awaitFailure();
      return ExitCode.HOLDS;
    } catch (InterruptedException e) {
      if (Shutdown.isAsked()) {
        output.progress(kind.word() + " stopped");
        return ExitCode.HOLDS;
      }
      throw e;
    }
  }

  private IchidoConfig withPort(IchidoConfig loaded) {
    if (httpPort == null) {
      return loaded;
    }
    CommandException.requireRange("--http-port", httpPort, 0, 65_535);
    return loaded.withHttpPort(httpPort);
  }

  /** The configuration with what the role's own options change. */
  IchidoConfig adjusted(IchidoConfig loaded) {
    return loaded;
  }

  @Command(
      name = "relay",
      mixinStandardHelpOptions = true,
      description = "Runs the relay alone: outbox to intents. Needs ichido migrate once before.")
  static final class Relay extends RoleCommand {
    @Option(
        names = "--backfill",
        description =
            "Where the replication slot is lost, make it anew and send what the outbox holds, even"
                + " if relay.slot_lost is refuse. Nothing is done where it is there.")
    private boolean backfill;

    Relay() {
      super(LoneRole.Kind.RELAY);
    }

    @Override
    IchidoConfig adjusted(IchidoConfig loaded) {
      return backfill ? loaded.withRelay(loaded.relay().withSlotLost(SlotLoss.BACKFILL)) : loaded;
    }
  }

  @Command(
      name = "processor",
      mixinStandardHelpOptions = true,
      description = "Runs the processor alone: intents and results to commands and replies.")
  static final class Processor extends RoleCommand {
    Processor() {
      super(LoneRole.Kind.PROCESSOR);
    }
  }

  @Command(
      name = "executor",
      mixinStandardHelpOptions = true,
      description = "Runs an executor alone: commands to results, under claims.")
  static final class Executor extends RoleCommand {
    Executor() {
      super(LoneRole.Kind.EXECUTOR);
    }
  }

  @Command(
      name = "inbox",
      mixinStandardHelpOptions = true,
      description = "Runs an inbox alone: replies into the runtime's tables.")
  static final class Inbox extends RoleCommand {
    Inbox() {
      super(LoneRole.Kind.INBOX);
    }
  }

  @Command(
      name = "gateway",
      mixinStandardHelpOptions = true,
      description = "Runs the HTTP door alone: requests into the outbox, replies out of the inbox.")
  static final class Gateway extends RoleCommand {
    Gateway() {
      super(LoneRole.Kind.GATEWAY);
    }
  }
}
