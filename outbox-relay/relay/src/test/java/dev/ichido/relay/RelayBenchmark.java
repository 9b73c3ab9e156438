package dev.ichido.relay;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Figures of the relay on this machine, with broker and database beside it: rows a second from a
 * full outbox, and the time from the commit of a row to a reader of committed records at a steady
 * rate.
 *
 * <p>Run from the folder of this module: {@code mvn -B test-compile dependency:build-classpath
 * -Dmdep.outputFile=target/cp} and then {@code java -cp target/test-classes:target/classes:$(cat
 * target/cp) dev.ichido.relay.RelayBenchmark ROWS RATE SECONDS POLL_MS}.
 */
final class RelayBenchmark {
  private RelayBenchmark() {}

  public static void main(String[] args) throws Exception {
    int rows = Integer.parseInt(args[0]);
    int rate = Integer.parseInt(args[1]);
    int seconds = Integer.parseInt(args[2]);
    Duration poll = Duration.ofMillis(Long.parseLong(args[3]));
    Servers.Shared servers = new Servers.Shared();
    try (TestOutbox outbox = new TestOutbox(servers, "bench_throughput")) {
      throughput(outbox.migrated(), rows, poll);
    }
    try (TestOutbox outbox = new TestOutbox(servers, "bench_latency")) {
      latency(outbox.migrated(), rate, seconds, poll);
    } finally {
      servers.close();
    }
  }

  private static OutboxRelay relay(TestOutbox outbox, Duration poll) {
    RelayConfig config = outbox.config();
    RelayTuning d = RelayTuning.DEFAULT;
    return outbox.relay(
        new RelayConfig(
            config.outbox(),
            config.kafka(),
            config.registry(),
            config.topicPrefix(),
            new RelayTuning(
                poll,
                d.maxBatch(),
                d.heartbeat(),
                d.firstBackoff(),
                d.maxBackoff(),
                d.startTimeout(),
                d.auditInterval(),
                d.slotLost())));
  }

  private static void throughput(TestOutbox outbox, int rows, Duration poll) throws Exception {
    try (Connection connection = outbox.transaction();
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into ichido.outbox (tenant, principal, type, aggregateid, issued_at, payload) select 't1',"
                    + " 'agent:a', 'pay.transfer', 'op-' || lpad((? + i)::text, 16, '0'), 0, '{\"memo\":\"' ||"
                    + " repeat('x', 300) || '\"}' from generate_series(0, 9) i")) {
      for (int i = 0; i < rows; i += 10) {
        insert.setInt(1, i);
        insert.executeUpdate();
        connection.commit();
      }
    }
    OutboxRelay relay = relay(outbox, poll);
    relay.start();
    long first = 0;
    long last = 0;
    int seen = 0;
    try (KafkaConsumer<String, byte[]> consumer = consumer(outbox)) {
      while (seen < rows) {
        int count = consumer.poll(Duration.ofMillis(50)).count();
        if (count > 0) {
          last = System.nanoTime();
          if (first == 0) {
            first = last;
          }
          seen += count;
        }
      }
    }
    System.out.printf(
        "%d rows in transactions of 10: %.0f rows/s%n", rows, rows / ((last - first) / 1e9));
  }

  private static void latency(TestOutbox outbox, int rate, int seconds, Duration poll)
      throws Exception {
    OutboxRelay relay = relay(outbox, poll);
    relay.start();
    TestOutbox.awaitReady(relay);
    int warmUp = rate * 8;
    int total = warmUp + rate * seconds;
    long[] due = new long[total];
    long[] seen = new long[total];
    Thread reader =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (KafkaConsumer<String, byte[]> consumer = consumer(outbox)) {
                    int count = 0;
                    while (count < total) {
                      for (ConsumerRecord<String, byte[]> record :
                          consumer.poll(Duration.ofMillis(500))) {
                        String key = record.key();
                        seen[Integer.parseInt(key.substring(key.lastIndexOf('-') + 1))] =
                            System.nanoTime();
                        count++;
                      }
                    }
                  }
                });
    try (Connection connection = outbox.connect();
        PreparedStatement insert =
            connection.prepareStatement(
                "select ichido.publish_intent('t1', 'agent:a', 'pay.transfer', ?, now())")) {
      long start = System.nanoTime();
      for (int i = 0; i < total; i++) {
        // The intended time: a writer that falls behind does not make the figures better.
        due[i] = start + i * 1_000_000_000L / rate;
        for (long wait = due[i] - System.nanoTime(); wait > 0; wait = due[i] - System.nanoTime()) {
          LockSupport.parkNanos(wait);
        }
        insert.setString(1, "op-%016d".formatted(i));
        insert.execute();
      }
    }
    reader.join();
    double[] millis = new double[total - warmUp];
    for (int i = warmUp; i < total; i++) {
      millis[i - warmUp] = (seen[i] - due[i]) / 1e6;
    }
    Arrays.sort(millis);
    System.out.printf(
        "%d/s, poll %d ms, publish to committed reader: p50 %.1f ms, p99 %.1f ms, max %.0f ms%n",
        rate,
        poll.toMillis(),
        millis[millis.length / 2],
        millis[(int) (millis.length * 0.99)],
        millis[millis.length - 1]);
  }

  private static KafkaConsumer<String, byte[]> consumer(TestOutbox outbox) {
    KafkaConsumer<String, byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                outbox.bootstrap(),
                "isolation.level",
                "read_committed",
                "auto.offset.reset",
                "earliest"),
            new StringDeserializer(),
            new ByteArrayDeserializer());
    List<TopicPartition> partitions = new ArrayList<>();
    consumer
        .partitionsFor(outbox.topics.intents())
        .forEach(info -> partitions.add(new TopicPartition(info.topic(), info.partition())));
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    return consumer;
  }
}
