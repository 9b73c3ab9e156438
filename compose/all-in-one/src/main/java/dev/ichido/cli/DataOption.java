package dev.ichido.cli;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The data folder of the embedded stack. */
final class DataOption {
  private static final Path DEFAULT = Path.of(".ichido");

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Data folder of the embedded stack, kept between runs (default: .ichido).")
  private @Nullable Path folder;

  Path folder() {
    return folder == null ? DEFAULT : folder;
  }

  boolean isGiven() {
    return folder != null;
  }
}
