package dev.ichido.cli;

import dev.ichido.app.Stack;
import picocli.CommandLine.Option;

/** Ports of the embedded stack, all on the loopback interface. */
final class PortOptions {
  @Option(names = "--kafka-port", paramLabel = "N", description = "Default: a free one.")
  private int kafka;

  @Option(names = "--postgres-port", paramLabel = "N", description = "Default: a free one.")
  private int postgres;

  @Option(names = "--registry-port", paramLabel = "N", description = "Default: a free one.")
  private int registry;

  @Option(
      names = "--http-port",
      paramLabel = "N",
      description = "Health and metrics. Default: a free one.")
  private int http;

  @Option(
      names = "--gateway-port",
      paramLabel = "N",
      description = "The HTTP door. Default: a free one.")
  private int gateway;

  Stack.Ports ports() {
    for (int port : new int[] {kafka, postgres, registry, http, gateway}) {
      if (port < 0 || port > 65_535) {
        throw CommandException.usage(
            "PORT_RANGE", "Expected a port of 0 to 65535, but " + port + " is none. Check it.");
      }
    }
    return new Stack.Ports(kafka, postgres, registry, http, gateway);
  }
}
