package dev.ichido.relay;

import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * One broker, one PostgreSQL and one registry for all integration tests; a database, a slot and
 * topics for each.
 */
final class Servers implements ParameterResolver {
  private static final AtomicInteger OUTBOXES = new AtomicInteger();

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == TestOutbox.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Shared shared =
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.GLOBAL)
            .getOrComputeIfAbsent(Shared.class, key -> new Shared(), Shared.class);
    TestOutbox outbox = new TestOutbox(shared, "test_" + OUTBOXES.incrementAndGet());
    context
        .getStore(ExtensionContext.Namespace.create(context.getUniqueId()))
        .put("outbox", outbox);
    return outbox;
  }

  static final class Shared implements AutoCloseable {
    final Path folder;
    final EmbeddedDatabase database;
    final EmbeddedBroker broker;
    final TestRegistry registry;

    Shared() {
      try {
        folder = Files.createTempDirectory("ichido-relay");
        registry = new TestRegistry();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      database = EmbeddedDatabase.start(folder.resolve("postgres"), 0, Map.of());
      broker = EmbeddedBroker.start(folder.resolve("kafka"));
    }

    @Override
    public void close() throws IOException {
      broker.close();
      database.close();
      registry.close();
      try (Stream<Path> files = Files.walk(folder)) {
        List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
        for (Path file : deepestFirst) {
          Files.deleteIfExists(file);
        }
      }
    }
  }
}
