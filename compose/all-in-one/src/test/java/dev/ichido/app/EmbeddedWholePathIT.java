package dev.ichido.app;

import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The suite on the embedded servers. */
class EmbeddedWholePathIT extends WholePathSuite {
  @TempDir private static Path folder;
  private static EmbeddedBroker broker;
  private static EmbeddedDatabase database;

  @BeforeAll
  static void start() {
    broker = EmbeddedBroker.start(folder.resolve("kafka"));
    database = EmbeddedDatabase.start(folder.resolve("postgres"));
  }

  @AfterAll
  static void stop() {
    database.close();
    broker.close();
  }

  @Override
  Servers servers() {
    return new Servers(
        broker.bootstrapServers(), database.url(), database.user(), database.password());
  }
}
