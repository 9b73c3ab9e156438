package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EndpointsTest {
  @TempDir private Path folder;

  @Test
  void aProcessIsTheOneThatWroteThemAndNotOneThatGotItsNumber() throws IOException {
    Endpoints written =
        new Endpoints(
            ProcessHandle.current().pid(),
            "b:1",
            "jdbc:x",
            "u",
            "http://r",
            "http://h",
            "http://g",
            "ichido",
            null);
    written.write(folder);
    assertThat(Endpoints.find(folder)).contains(written);

    Path file = folder.resolve("endpoints.json");
    String begun =
        ProcessHandle.current().info().startInstant().map(Instant::toString).orElseThrow();
    String before = Instant.parse(begun).minus(Duration.ofHours(1)).toString();
    Files.writeString(file, Files.readString(file).replace(begun, before));
    assertThat(Endpoints.find(folder)).isEmpty();
  }
}
