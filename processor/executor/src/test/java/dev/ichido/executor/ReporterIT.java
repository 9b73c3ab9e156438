package dev.ichido.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import dev.ichido.executor.claim.ClaimStore;
import dev.ichido.executor.claim.ExecutorMigration;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReporterIT {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path folder;

  /** Records have no bytes here; nobody reads them. */
  public static final class NoBytes implements Serializer<Object> {
    @Override
    public byte[] serialize(String topic, Object value) {
      return new byte[0];
    }
  }

  @Test
  @Tag("FR-09")
  void whileASendWaitsForTheBrokerTheNextResultIsKeptInItsClaim() throws Exception {
    CountDownLatch brokerIsBack = new CountDownLatch(1);
    CountDownLatch sending = new CountDownLatch(1);
    List<String> sent = new ArrayList<>();
    Producer<byte[], byte[]> silent =
        producer(
            key -> {
              sending.countDown();
              brokerIsBack.await();
              synchronized (sent) {
                sent.add(key);
              }
            });
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    try (EmbeddedDatabase database = EmbeddedDatabase.start(folder);
        HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(database.url());
      pool.setUsername(database.user());
      pool.setPassword(database.password());
      ExecutorMigration.migrate(pool);
      ClaimStore claims = new ClaimStore(pool, "a/1");
      Reporter reporter =
          new Reporter(
              claims,
              silent,
              RecordSerdes.from(
                  Map.of(
                      "schema.registry.url",
                      "http://127.0.0.1:1",
                      "registry.serializer.class",
                      NoBytes.class.getName())),
              Topics.withDefaultPrefix(),
              "a",
              new Meters(new SimpleMeterRegistry()),
              timer,
              failure -> {});
      Thread thread = Thread.ofPlatform().start(reporter);

      report(reporter, claims, "first");
      sending.await();
      report(reporter, claims, "second");

      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(claims.find("k1/t1/global/second", 1))
                      .containsInstanceOf(ClaimAnswer.Recorded.class));
      assertThat(sent).isEmpty();
      brokerIsBack.countDown();
      await().atMost(Duration.ofSeconds(30)).until(() -> sent.size() == 2);
      assertThat(sent).containsExactly("k1/t1/global/first", "k1/t1/global/second");
      reporter.end();
      thread.join();
    } finally {
      timer.shutdownNow();
    }
  }

  private static void report(Reporter reporter, ClaimStore claims, String operation)
      throws SQLException {
    ToolCommand command = Commands.execute(operation, "{}");
    assertThat(
            claims.take(
                List.of(
                    new ClaimRequest(
                        command.recordKey(),
                        command.attempt(),
                        command.commandId(),
                        command.action(),
                        NOW.plusSeconds(60),
                        null)),
                NOW))
        .containsExactly(new ClaimAnswer.Won());
    Report report =
        new Report(
            Report.Kind.ATTEMPT,
            Report.Finding.SUCCEEDED,
            AttemptProtocol.resultId(command),
            "effect-1",
            "{}",
            null,
            0,
            null,
            null,
            200,
            1,
            null,
            NOW);
    reporter.report(
        new Work(command, new TopicPartition("commands", 0), 0, List.of()),
        new Caller.Told(report, true, null),
        report,
        () -> {});
  }

  private interface Sending {
    void send(String key) throws InterruptedException;
  }

  @SuppressWarnings("unchecked")
  private static Producer<byte[], byte[]> producer(Sending sending) {
    return (Producer<byte[], byte[]>)
        Proxy.newProxyInstance(
            ReporterIT.class.getClassLoader(),
            new Class<?>[] {Producer.class},
            (proxy, method, arguments) -> {
              assertThat(method.getName()).isEqualTo("send");
              var record =
                  (org.apache.kafka.clients.producer.ProducerRecord<byte[], byte[]>) arguments[0];
              sending.send(new String(record.key(), java.nio.charset.StandardCharsets.UTF_8));
              return null;
            });
  }
}
