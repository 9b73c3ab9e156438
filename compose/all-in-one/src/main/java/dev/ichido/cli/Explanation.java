package dev.ichido.cli;

import dev.ichido.app.DatabaseFailure;
import dev.ichido.config.ConfigException;
import dev.ichido.embedded.EmbeddedServerException;
import dev.ichido.executor.ExecutorException;
import dev.ichido.gateway.GatewayException;
import dev.ichido.inbox.InboxException;
import dev.ichido.outbox.InvalidIntentException;
import dev.ichido.outbox.OutboxException;
import dev.ichido.relay.RelayException;
import dev.ichido.schemas.TopicAdminException;
import dev.ichido.schemas.wire.WireException;
import dev.ichido.topology.policy.PolicyException;
import java.io.IOException;
import java.sql.SQLException;

/**
 * What a failure is called and what its reader should check.
 *
 * @param isComplete whether the message says all there is to say
 */
record Explanation(String code, String message, int exitCode, boolean isComplete) {

  static Explanation of(Throwable failure) {
    for (Throwable e = failure; e != null; e = e.getCause()) {
      if (e instanceof IOException && text(e).contains("No space left")) {
        return new Explanation(
            "DISK_FULL",
            "Expected free space, but the device has none left. Free some, or give a data folder on"
                + " another device with --data.",
            ExitCode.DOES_NOT_HOLD,
            true);
      }
      switch (e) {
        case CommandException known -> {
          return new Explanation(known.code(), text(known), known.exitCode(), true);
        }
        case ConfigException known -> {
          return new Explanation(known.code(), text(known), ExitCode.USAGE, true);
        }
        case PolicyException known -> {
          return new Explanation(known.code(), text(known), ExitCode.USAGE, true);
        }
        case RelayException known -> {
          return new Explanation(known.code().name(), text(known), ExitCode.DOES_NOT_HOLD, true);
        }
        case ExecutorException known -> {
          return new Explanation(known.code(), text(known), ExitCode.USAGE, true);
        }
        case GatewayException known -> {
          return new Explanation(known.code(), text(known), ExitCode.USAGE, true);
        }
        case InboxException known -> {
          return new Explanation(known.code(), text(known), ExitCode.DOES_NOT_HOLD, true);
        }
        case OutboxException known -> {
          return new Explanation(known.code().name(), text(known), ExitCode.USAGE, true);
        }
        case InvalidIntentException known -> {
          return new Explanation("INTENT_INVALID", text(known), ExitCode.USAGE, true);
        }
        case TopicAdminException known -> {
          return new Explanation(known.code(), text(known), ExitCode.DOES_NOT_HOLD, true);
        }
        case WireException known -> {
          return new Explanation(known.code(), text(known), ExitCode.DOES_NOT_HOLD, true);
        }
        case EmbeddedServerException known -> {
          return new Explanation(known.code().name(), text(known), exitCode(known), true);
        }
        case SQLException known -> {
          return of(DatabaseFailure.of("the database", known));
        }
        default -> {}
      }
    }
    return new Explanation(
        "UNEXPECTED",
        "Expected the command to work, but it ended with "
            + failure.getClass().getSimpleName()
            + ": "
            + text(failure),
        ExitCode.DOES_NOT_HOLD,
        false);
  }

  private static int exitCode(EmbeddedServerException e) {
    return switch (e.code()) {
      case DATA_FOLDER_IN_USE, DATA_FOLDER_UNUSABLE, PORT_IN_USE -> ExitCode.USAGE;
      case DISK_FULL, DATABASE_FAILED, BROKER_FAILED -> ExitCode.DOES_NOT_HOLD;
    };
  }

  private static String text(Throwable e) {
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }
}
