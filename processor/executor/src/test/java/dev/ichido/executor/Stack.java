package dev.ichido.executor;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.executor.claim.ExecutorMigration;
import dev.ichido.registry.InMemoryRegistryLog;
import dev.ichido.registry.RegistryServer;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.TopicAdmin;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** A broker, a database and a registry, and topics of their own for each test. */
final class Stack implements AutoCloseable {
  private static final AtomicInteger PREFIXES = new AtomicInteger();

  private final Path folder;
  private EmbeddedBroker broker;
  final EmbeddedDatabase database;
  final RegistryServer registry;
  final HikariDataSource pool;
  private final KafkaProducer<byte[], byte[]> producer;
  private final KafkaConsumer<byte[], byte[]> reader;
  private final Admin admin;
  final RecordSerdes serdes;

  Stack(Path folder) {
    this.folder = folder;
    broker = EmbeddedBroker.start(folder.resolve("kafka"));
    database = EmbeddedDatabase.start(folder.resolve("postgres"));
    try {
      registry = RegistryServer.start(new InMemoryRegistryLog(), 0);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setUsername(database.user());
    config.setPassword(database.password());
    config.setMaximumPoolSize(12);
    pool = new HikariDataSource(config);
    ExecutorMigration.migrate(pool);
    serdes = RecordSerdes.from(registrySettings());
    Map<String, Object> settings = new HashMap<>(kafka());
    admin = Admin.create(settings);
    producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    settings.put("isolation.level", "read_committed");
    reader =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  Map<String, String> kafka() {
    return Map.of("bootstrap.servers", broker.bootstrapServers());
  }

  Map<String, String> registrySettings() {
    return Map.of("schema.registry.url", registry.url());
  }

  /** Something that may fail. */
  interface Action {
    void run() throws Exception;
  }

  /** The broker comes back where it was, with all that it had. */
  void whileTheBrokerIsDown(Action action) throws Exception {
    int port = broker.port();
    broker.close();
    try {
      action.run();
    } finally {
      broker = EmbeddedBroker.start(folder.resolve("kafka"), port, Map.of());
    }
  }

  /** New, empty topics. */
  Topics topics(int partitions) {
    Topics topics = new Topics("t" + PREFIXES.incrementAndGet());
    try (TopicAdmin topicAdmin = TopicAdmin.connect(kafka(), Duration.ofSeconds(30))) {
      topicAdmin.ensure(topics.specs(partitions, (short) 1));
    }
    return topics;
  }

  void send(Topics topics, ToolCommand command) {
    send(topics, command.recordKey(), command);
  }

  void send(Topics topics, String key, ToolCommand command) {
    SideEffectCommand record =
        SideEffectCommand.newBuilder()
            .setKind(CommandKind.valueOf(command.kind().name()))
            .setCommandId(command.commandId())
            .setTenant(command.tenant())
            .setScope(command.scope())
            .setOperationId(command.operationId())
            .setDeliveryId(command.deliveryId())
            .setAttempt(command.attempt())
            .setRead(command.read())
            .setAction(command.action())
            .setTarget(command.target())
            .setArguments(command.arguments())
            .setPrecondition(command.precondition())
            .setPrincipal(command.principal())
            .setDownstreamKey(command.downstreamKey())
            .setIssuedAt(command.issuedAt())
            .setFirstAttemptAt(command.firstAttemptAt())
            .setDeadline(command.deadline())
            .setLeaseOver(command.leaseOver())
            .build();
    send(topics, key, record);
  }

  void send(Topics topics, String key, SideEffectCommand record) {
    sendRaw(
        topics,
        key,
        serdes.serializer(SideEffectCommand.class).serialize(topics.commands(), record));
  }

  void sendRaw(Topics topics, @Nullable String key, byte[] value) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(
            topics.commands(), key == null ? null : key.getBytes(StandardCharsets.UTF_8), value);
    record.headers().add("traceparent", "00-trace".getBytes(StandardCharsets.UTF_8));
    try {
      producer.send(record).get();
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  List<OperationResult> results(Topics topics) {
    return records(topics.results(), OperationResult.class);
  }

  List<OperationResult> results(Topics topics, String operation) {
    return results(topics).stream().filter(r -> operation.equals(r.getOperationId())).toList();
  }

  List<DeadLetter> deadLetters(Topics topics) {
    return records(topics.deadLetters(), DeadLetter.class);
  }

  private <T extends SpecificRecordBase> List<T> records(String topic, Class<T> type) {
    List<T> values = new ArrayList<>();
    raw(topic).forEach(r -> values.add(serdes.deserializer(type).deserialize(topic, r.value())));
    return values;
  }

  List<ConsumerRecord<byte[], byte[]>> raw(String topic) {
    synchronized (reader) {
      List<TopicPartition> partitions =
          reader.partitionsFor(topic).stream()
              .map(p -> new TopicPartition(topic, p.partition()))
              .toList();
      reader.assign(partitions);
      reader.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = reader.endOffsets(partitions);
      List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
      while (ends.entrySet().stream().anyMatch(e -> reader.position(e.getKey()) < e.getValue())) {
        reader.poll(Duration.ofMillis(100)).forEach(all::add);
      }
      return all;
    }
  }

  /** Every claim row, whole. */
  List<String> claims() {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("select c::text from ichido.claim c")) {
      List<String> claims = new ArrayList<>();
      while (rows.next()) {
        claims.add(rows.getString(1));
      }
      return claims;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Commands that the group has not committed yet. */
  long lag(Topics topics, String group) {
    try {
      Map<TopicPartition, OffsetAndMetadata> committed =
          admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
      Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
      for (TopicDescription commands :
          admin.describeTopics(List.of(topics.commands())).allTopicNames().get().values()) {
        commands
            .partitions()
            .forEach(
                p ->
                    ends.put(
                        new TopicPartition(commands.name(), p.partition()), OffsetSpec.latest()));
      }
      long lag = 0;
      for (var end : admin.listOffsets(ends).all().get().entrySet()) {
        OffsetAndMetadata at = committed.get(end.getKey());
        lag += end.getValue().offset() - (at == null ? 0 : at.offset());
      }
      return lag;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    producer.close();
    reader.close();
    admin.close();
    pool.close();
    registry.close();
    database.close();
    broker.close();
  }
}
