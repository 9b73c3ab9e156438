package dev.ichido.relay;

import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.TopicAdmin;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.awaitility.Awaitility;

/** A database with an outbox of its own, and topics of its own, on the shared servers. */
final class TestOutbox implements AutoCloseable {
  static final String OPERATION = "op-0000000000000001";

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final RelayTuning TUNING =
      new RelayTuning(
          Duration.ofMillis(2),
          2_048,
          Duration.ofMillis(200),
          Duration.ofMillis(50),
          Duration.ofMillis(500),
          Duration.ofSeconds(10),
          Duration.ofMillis(500),
          SlotLoss.BACKFILL);

  final String name;
  final OutboxDatabase database;
  final Topics topics;

  /** Of the latest relay. */
  SimpleMeterRegistry meters = new SimpleMeterRegistry();

  final Servers.Shared servers;
  private final EmbeddedBroker broker;
  private final List<OutboxRelay> relays = new ArrayList<>();
  private final RecordSerdes serdes;

  TestOutbox(Servers.Shared servers, String name) {
    this(servers, name, servers.database, servers.broker);
  }

  /** On a database or a broker with settings of its own. */
  TestOutbox(Servers.Shared servers, String name, EmbeddedDatabase server, EmbeddedBroker broker) {
    this.servers = servers;
    this.broker = broker;
    this.name = name;
    topics = new Topics(name);
    serdes = RecordSerdes.from(Map.of("schema.registry.url", servers.registry.url()));
    database =
        OutboxDatabase.of(
                "jdbc:postgresql://localhost:" + server.port() + "/" + name,
                server.user(),
                server.password())
            .withSlot(name);
    try (Connection connection = server.dataSource().getConnection()) {
      run(connection, "create database " + name);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    try (TopicAdmin admin =
        TopicAdmin.connect(Map.of("bootstrap.servers", bootstrap()), Duration.ofSeconds(30))) {
      admin.ensure(topics.specs(2, (short) 1));
    }
  }

  String bootstrap() {
    return broker.bootstrapServers();
  }

  TestOutbox migrated() {
    new OutboxMigration(database).run();
    return this;
  }

  RelayConfig config() {
    return new RelayConfig(
        database,
        Map.of("bootstrap.servers", bootstrap()),
        Map.of("schema.registry.url", servers.registry.url()),
        name,
        TUNING);
  }

  OutboxRelay relay() {
    return relay(config());
  }

  OutboxRelay relay(RelayConfig config) {
    meters = new SimpleMeterRegistry();
    return kept(new OutboxRelay(config, meters));
  }

  /** Migrated, with a relay that is ready. */
  OutboxRelay started() {
    OutboxRelay relay = migrated().relay();
    relay.start();
    awaitReady(relay);
    return relay;
  }

  /** A relay whose producer's calls pass the hook first; what the hook throws, the call throws. */
  OutboxRelay relay(ProducerHook hook) {
    meters = new SimpleMeterRegistry();
    return kept(new OutboxRelay(config(), meters, hooked(hook)));
  }

  private OutboxRelay kept(OutboxRelay relay) {
    relays.add(relay);
    return relay;
  }

  interface ProducerHook {
    void before(String method) throws Exception;
  }

  @SuppressWarnings("unchecked")
  private static Function<Map<String, Object>, Producer<byte[], byte[]>> hooked(ProducerHook hook) {
    return settings -> {
      Producer<byte[], byte[]> real =
          new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
      return (Producer<byte[], byte[]>)
          Proxy.newProxyInstance(
              TestOutbox.class.getClassLoader(),
              new Class<?>[] {Producer.class},
              (proxy, method, arguments) -> {
                hook.before(method.getName());
                try {
                  return method.invoke(real, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    };
  }

  static void awaitReady(OutboxRelay relay) {
    await(
        "the relay is ready",
        () -> {
          relay
              .failure()
              .ifPresent(
                  failure -> {
                    throw new AssertionError("The relay stopped", failure);
                  });
          return relay.ready();
        });
  }

  static void awaitProblem(OutboxRelay relay, RelayException.Code code) {
    await("problem " + code, () -> relay.problem().filter(p -> p.code() == code).isPresent());
  }

  /** The next relay may start: the server has seen that the one before is gone. */
  void awaitSlotFree() {
    await("the slot is free", () -> slot("active").equals("f"));
  }

  /** Everything published so far is known to be acknowledged. */
  void awaitAudited() {
    await(
        "all rows are known to be acknowledged",
        () ->
            query(
                    "select acknowledged_below > (select max(transaction_id) from ichido.outbox)"
                        + " from ichido.relay_slot")
                .equals("t"));
  }

  static void await(String what, Callable<Boolean> condition) {
    Awaitility.await(what).atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(condition);
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(database.url(), database.user(), database.password());
  }

  Connection transaction() throws SQLException {
    Connection connection = connect();
    connection.setAutoCommit(false);
    return connection;
  }

  void run(String sql) throws SQLException {
    try (Connection connection = connect()) {
      run(connection, sql);
    }
  }

  static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  String query(String sql) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      return result.next() ? String.valueOf(result.getString(1)) : "";
    }
  }

  /** An expression over the slot's row of pg_replication_slots; empty when there is none. */
  String slot(String expression) throws SQLException {
    return query(
        "select " + expression + " from pg_replication_slots where slot_name = '" + name + "'");
  }

  static void publish(Connection connection, String operation, String delivery)
      throws SQLException {
    run(
        connection,
        "select ichido.publish_intent('t1', 'agent:a', 'pay.transfer', '"
            + operation
            + "', '2026-01-01T00:00:00.123456Z', '{\"amount\":1}', delivery_id => '"
            + delivery
            + "')");
  }

  /** In a transaction of its own. All deliveries are of one operation, so their order is kept. */
  void publish(String delivery) throws SQLException {
    try (Connection connection = connect()) {
      publish(connection, OPERATION, delivery);
    }
  }

  /** Delivery ids on the intents topic so far, as a reader of committed records sees them. */
  List<String> deliveries() {
    return intents().stream().map(record -> record.value().getDeliveryId()).toList();
  }

  List<ConsumerRecord<String, ToolIntent>> intents() {
    return read(topics.intents(), ToolIntent.class);
  }

  List<ConsumerRecord<String, DeadLetter>> deadLetters() {
    return read(topics.deadLetters(), DeadLetter.class);
  }

  private <T extends SpecificRecordBase> List<ConsumerRecord<String, T>> read(
      String topic, Class<T> type) {
    try (KafkaConsumer<String, T> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers",
                bootstrap(),
                "isolation.level",
                "read_committed",
                "auto.offset.reset",
                "earliest"),
            new StringDeserializer(),
            serdes.deserializer(type))) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(info -> new TopicPartition(topic, info.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      List<ConsumerRecord<String, T>> records = new ArrayList<>();
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.getOrDefault(p, 0L))) {
        consumer.poll(Duration.ofMillis(100)).forEach(records::add);
      }
      return records;
    }
  }

  /** What the server does to a relay that it hears nothing of. */
  void cutReplication() throws SQLException {
    slot("pg_terminate_backend(active_pid)");
  }

  @Override
  public void close() throws SQLException {
    relays.forEach(OutboxRelay::close);
    await("the slot is free", () -> !slot("active").equals("t"));
    slot("pg_drop_replication_slot(slot_name)");
  }
}
