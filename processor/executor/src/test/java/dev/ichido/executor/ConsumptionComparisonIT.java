package dev.ichido.executor;

import dev.ichido.embedded.EmbeddedBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A consumer group against a share group where executors stand: two processes, a call of 5 ms for
 * each command and of half a second for one in fifty, a report that is acknowledged before the
 * command is, and a kill -9 of one of them. It prints figures and asserts nothing; they are in
 * topology-docs/adr.
 */
@EnabledIfSystemProperty(named = "ichido.comparison", matches = "clean|killed")
class ConsumptionComparisonIT {
  private static final int KEYS = 400;
  private static final int EACH = 10;
  private static final int CONCURRENCY = 32;

  /** One call: which command, when it began and ended, by the machine's clock. */
  private record Call(String command, String key, int number, long began, long ended) {
    String text() {
      return String.join(",", command, key, "" + number, "" + began, "" + ended);
    }

    static Call of(String text) {
      String[] t = text.split(",", -1);
      return new Call(
          t[0], t[1], Integer.parseInt(t[2]), Long.parseLong(t[3]), Long.parseLong(t[4]));
    }
  }

  @TempDir private static Path folder;

  @Test
  void compare() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder)) {
      boolean kill = "killed".equals(System.getProperty("ichido.comparison"));
      for (String mode : List.of("group", "share")) {
        System.out.println(run(broker.bootstrapServers(), mode, kill));
      }
    }
  }

  private static String run(String bootstrap, String mode, boolean kill) throws Exception {
    String name = mode + (kill ? "-killed" : "-clean");
    Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", bootstrap));
    try (Admin admin = Admin.create(settings)) {
      admin
          .createTopics(
              List.of(new NewTopic(name, 4, (short) 1), new NewTopic(name + "-out", 1, (short) 1)))
          .all()
          .get();
      if (mode.equals("share")) {
        admin
            .incrementalAlterConfigs(
                Map.of(
                    new ConfigResource(ConfigResource.Type.GROUP, name),
                    List.of(
                        new AlterConfigOp(
                            new ConfigEntry("share.auto.offset.reset", "earliest"),
                            AlterConfigOp.OpType.SET))))
            .all()
            .get();
      }
    }
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      for (int number = 0; number < EACH; number++) {
        for (int key = 0; key < KEYS; key++) {
          var unused = producer.send(new ProducerRecord<>(name, "key-" + key, "" + number));
        }
      }
    }
    List<Process> workers = List.of(worker(bootstrap, mode, name), worker(bootstrap, mode, name));
    List<Call> calls = new ArrayList<>();
    Set<String> done = new HashSet<>();
    long killedAt = 0;
    try (KafkaConsumer<String, String> out =
        new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      out.assign(List.of(new TopicPartition(name + "-out", 0)));
      out.seekToBeginning(out.assignment());
      while (done.size() < KEYS * EACH) {
        out.poll(Duration.ofMillis(50)).forEach(record -> calls.add(Call.of(record.value())));
        calls.forEach(call -> done.add(call.command()));
        if (kill && killedAt == 0 && done.size() > KEYS * EACH / 3) {
          workers.getFirst().destroyForcibly().waitFor();
          killedAt = System.nanoTime();
        }
      }
    } finally {
      workers.forEach(Process::destroyForcibly);
    }
    long first = calls.stream().mapToLong(Call::began).min().orElseThrow();
    long last = calls.stream().mapToLong(Call::ended).max().orElseThrow();
    return "%s: %d ms from the first call to the last, %d calls over commands begun, %d of a key overlapped or out of order%s"
        .formatted(
            name,
            (last - first) / 1_000_000,
            calls.size() - done.size(),
            disorder(calls),
            killedAt == 0
                ? ""
                : ", all done %d ms after the kill".formatted((last - killedAt) / 1_000_000));
  }

  /** Calls that began before the one before them, of the same key, had ended. */
  private static long disorder(List<Call> calls) {
    Map<String, Call[]> byKey = new HashMap<>();
    calls.forEach(c -> byKey.computeIfAbsent(c.key(), k -> new Call[EACH])[c.number()] = c);
    long wrong = 0;
    for (Call[] of : byKey.values()) {
      for (int i = 1; i < EACH; i++) {
        wrong += of[i].began() < of[i - 1].ended() ? 1 : 0;
      }
    }
    return wrong;
  }

  private static Process worker(String bootstrap, String mode, String name) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-cp",
            System.getProperty("java.class.path"),
            ConsumptionComparisonIT.class.getName(),
            bootstrap,
            mode,
            name)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Object> settings = new HashMap<>();
    settings.put("bootstrap.servers", arguments[0]);
    settings.put("group.id", arguments[2]);
    settings.put("key.serializer", StringSerializer.class);
    settings.put("value.serializer", StringSerializer.class);
    settings.put("key.deserializer", StringDeserializer.class);
    settings.put("value.deserializer", StringDeserializer.class);
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
      Caller caller = new Caller(producer, arguments[2] + "-out");
      if (arguments[1].equals("group")) {
        group(settings, arguments[2], caller);
      } else {
        share(settings, arguments[2], caller);
      }
    }
  }

  /** As the role does it: order of a key by a queue, positions past a gapless run. */
  private static void group(Map<String, Object> settings, String topic, Caller caller) {
    settings.put("auto.offset.reset", "earliest");
    settings.put("enable.auto.commit", false);
    OffsetTracker offsets = new OffsetTracker();
    Map<String, Deque<Runnable>> busy = new ConcurrentHashMap<>();
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
      consumer.subscribe(List.of(topic));
      while (true) {
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(50))) {
          TopicPartition partition = new TopicPartition(record.topic(), record.partition());
          offsets.begin(partition, record.offset());
          Runnable call =
              () ->
                  caller.call(
                      record,
                      () -> {
                        offsets.complete(partition, record.offset());
                        next(busy, record.key());
                      });
          busy.compute(
              record.key(),
              (key, waiting) -> {
                if (waiting == null) {
                  call.run();
                  return new ArrayDeque<>();
                }
                waiting.add(call);
                return waiting;
              });
        }
        consumer.commitAsync(offsets.takeCommittable(), null);
      }
    }
  }

  private static void next(Map<String, Deque<Runnable>> busy, String key) {
    busy.compute(
        key,
        (k, waiting) -> {
          Runnable call = waiting == null ? null : waiting.poll();
          if (call == null) {
            return null;
          }
          call.run();
          return waiting;
        });
  }

  /** All that was handed over must be acknowledged before more is. */
  private static void share(Map<String, Object> settings, String topic, Caller caller)
      throws InterruptedException {
    settings.put("share.acknowledgement.mode", "explicit");
    settings.put("max.poll.records", 4 * CONCURRENCY);
    try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(settings)) {
      consumer.subscribe(List.of(topic));
      while (true) {
        ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(50));
        CountDownLatch open = new CountDownLatch(records.count());
        records.forEach(record -> caller.call(record, open::countDown));
        open.await();
        records.forEach(consumer::acknowledge);
        consumer.commitAsync();
      }
    }
  }

  /** Makes the call and reports it; what was acknowledged is told. */
  private record Caller(KafkaProducer<String, String> producer, String topic, Semaphore places) {
    Caller(KafkaProducer<String, String> producer, String topic) {
      this(producer, topic, new Semaphore(CONCURRENCY));
    }

    void call(ConsumerRecord<String, String> record, Runnable acknowledged) {
      Thread.ofVirtual().start(() -> perform(record, acknowledged));
    }

    private void perform(ConsumerRecord<String, String> record, Runnable acknowledged) {
      places.acquireUninterruptibly();
      long began = System.nanoTime();
      int drawn = Math.floorMod((record.key() + record.value()).hashCode() * 31, 50);
      try {
        Thread.sleep(drawn == 0 ? 500 : 5);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      long ended = System.nanoTime();
      places.release();
      Call call =
          new Call(
              record.partition() + "@" + record.offset(),
              record.key(),
              Integer.parseInt(record.value()),
              began,
              ended);
      var unused =
          producer.send(
              new ProducerRecord<>(topic, call.text()), (metadata, e) -> acknowledged.run());
    }
  }
}
