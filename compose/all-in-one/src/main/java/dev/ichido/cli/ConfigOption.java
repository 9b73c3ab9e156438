package dev.ichido.cli;

import dev.ichido.app.LivePolicy;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Where the servers are, when they are not embedded. */
final class ConfigOption {
  @Option(
      names = "--config",
      required = true,
      paramLabel = "FILE",
      description = "The configuration (YAML): servers, topics, tenants, actions.")
  private Path file = Path.of("ichido.yaml");

  IchidoConfig load() {
    return ConfigLoader.ofProcess().load(file);
  }

  LivePolicy loadLive() {
    return LivePolicy.of(file);
  }
}
