package dev.ichido.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.inbox.wire.JournalMapper;
import dev.ichido.inbox.wire.ReplyMapper;
import dev.ichido.registry.InMemoryRegistryLog;
import dev.ichido.registry.RegistryServer;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.TopicAdmin;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InboxRoleIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final AtomicInteger PREFIXES = new AtomicInteger();

  @TempDir private static Path folder;
  private static EmbeddedBroker broker;
  private static EmbeddedDatabase database;
  private static RegistryServer registry;
  private static HikariDataSource pool;
  private static RecordSerdes serdes;
  private static KafkaProducer<byte[], byte[]> producer;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final List<InboxRole> roles = new ArrayList<>();
  private Topics topics;
  private InboxReader reader;

  @BeforeAll
  static void start() throws Exception {
    broker = EmbeddedBroker.start(folder.resolve("kafka"));
    database = EmbeddedDatabase.start(folder.resolve("postgres"));
    registry = RegistryServer.start(new InMemoryRegistryLog(), 0);
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database.url());
    config.setUsername(database.user());
    config.setPassword(database.password());
    pool = new HikariDataSource(config);
    InboxMigration.migrate(pool);
    serdes = RecordSerdes.from(Map.of("schema.registry.url", registry.url()));
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", broker.bootstrapServers(), "max.request.size", "1040000"),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  @AfterAll
  static void stop() {
    producer.close();
    pool.close();
    registry.close();
    database.close();
    broker.close();
  }

  @BeforeEach
  void makeTopics() throws Exception {
    topics = new Topics("i" + PREFIXES.incrementAndGet());
    makeTopics(topics);
    reader = new InboxReader(pool);
  }

  private static void makeTopics(Topics topics) {
    try (TopicAdmin admin =
        TopicAdmin.connect(
            Map.of("bootstrap.servers", broker.bootstrapServers()), Duration.ofSeconds(30))) {
      admin.ensure(topics.specs(2, (short) 1));
    }
  }

  @AfterEach
  void closeRoles() {
    roles.forEach(InboxRole::close);
  }

  @Test
  void theAnswerOfAReadComesAfterTheSameVerdict() throws Exception {
    run(pool);
    String delivery = name("read");
    send(
        reply("look", delivery, 0, "PASSED_THROUGH", "IN_PROGRESS", null, null)
            .setFinal$(false)
            .build());
    send(reply("look", delivery, 0, "PASSED_THROUGH", "SUCCEEDED", "EXECUTED", "{}").build());
    assertThat(requireFinal(delivery).body()).isEqualTo("{}");
    assertThat(reader.repliesTo(delivery)).hasSize(2);
  }

  @Test
  void aReplyIsStoredAndHandedToItsDelivery() throws Exception {
    run(pool);
    String delivery = name("d1");
    CompletableFuture<InboxReply> waiting =
        CompletableFuture.supplyAsync(() -> requireFinal(delivery));
    send(claimed("op", delivery).build());
    send(reply("op", delivery, 2, "SETTLED", "SUCCEEDED", "EXECUTED", "{\"ok\":\"ü\"}").build());
    InboxReply settled = waiting.get();
    assertThat(settled.verdict()).isEqualTo("SETTLED");
    assertThat(settled.body()).isEqualTo("{\"ok\":\"ü\"}");
    assertThat(settled.differing()).containsExactly("a\"b\\", "c");
    assertThat(settled.originalAt()).isEqualTo(Instant.ofEpochMilli(1_000));
    assertThat(settled.traceparent()).isEqualTo("00-trace");
    assertThat(reader.repliesTo(delivery))
        .extracting(InboxReply::verdict)
        .containsExactly("SETTLED");
    InboxOperation operation = reader.findOperation("t1", "global", name("op")).orElseThrow();
    assertThat(operation.state()).isEqualTo("SUCCEEDED");
    assertThat(operation.revision()).isEqualTo(2);
    assertThat(operation.conflict()).isFalse();
  }

  @Test
  void thatAnOperationBeganIsToldToWhoAsksForItAndWithAReason() {
    run(pool);
    String every = "every." + name("d1");
    send(claimed("one", every).build());
    send(claimed("two", name("d2")).setCode("SUSPECTED_REMINT").build());
    send(claimed("three", name("d3")).build());
    send(
        reply("four", name("d4"), 3, "RECLAIMED", "IN_PROGRESS", null, null)
            .setFinal$(false)
            .build());
    send(reply("five", name("d5"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    requireFinal(name("d5"));
    assertThat(reader.repliesTo(every))
        .extracting(InboxReply::verdict, InboxReply::state)
        .containsExactly(tuple("CLAIMED", "IN_PROGRESS"));
    assertThat(reader.repliesTo(name("d2")))
        .extracting(InboxReply::code)
        .containsExactly("SUSPECTED_REMINT");
    assertThat(reader.repliesTo(name("d3"))).isEmpty();
    assertThat(reader.findOperation("t1", "global", name("three"))).isEmpty();
    assertThat(reader.repliesTo(name("d4"))).hasSize(1);
    assertThat(meters.counter("ichido.inbox.replies", "what", "not_kept").count()).isEqualTo(1);
  }

  @Test
  void thatAnOperationBeganIsToldToAllWhereThatIsSet() {
    run(pool, true);
    send(claimed("op", name("d1")).build());
    send(reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    requireFinal(name("d1"));
    assertThat(reader.repliesTo(name("d1")))
        .extracting(InboxReply::verdict)
        .containsExactly("CLAIMED", "SETTLED");
  }

  @Test
  void aRecordThatIsSentTwiceIsOneReply() throws SQLException {
    run(pool);
    OperationReply reply =
        reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build();
    send(reply);
    send(reply);
    send(reply("op", name("last"), 2, "REPLAYED", "SUCCEEDED", "REPLAYED", "x").build());
    requireFinal(name("last"));
    assertThat(reader.repliesTo(name("d1"))).hasSize(1);
    assertThat(conflicts()).isZero();
  }

  @Test
  @Tag("FR-13")
  void aLowerRevisionIsIgnoredAndCounted() throws SQLException {
    run(pool);
    send(reply("op", name("d1"), 5, "SETTLED", "SUCCEEDED", "EXECUTED", "new").build());
    send(reply("op", name("d2"), 4, "HELD_UNKNOWN", "UNKNOWN_RECONCILIATION", null, null).build());
    requireFinal(name("d2"));
    InboxOperation operation = reader.findOperation("t1", "global", name("op")).orElseThrow();
    assertThat(operation.revision()).isEqualTo(5);
    assertThat(operation.body()).isEqualTo("new");
    assertThat(meters.counter("ichido.inbox.replies", "what", "lower_revision").count())
        .isEqualTo(1);
    assertThat(conflicts()).isZero();
  }

  @Test
  void anotherTruthUnderAKnownRevisionIsKeptAsideAndTheResultIsWithheld() throws SQLException {
    run(pool);
    send(reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "one").build());
    send(reply("op", name("d2"), 2, "REPLAYED", "SUCCEEDED", "REPLAYED", "two").build());
    send(reply("sane", name("d3"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "sane").build());
    InboxReply other = requireFinal(name("d2"));
    assertThat(other.conflict()).isTrue();
    assertThat(other.body()).isNull();
    assertThat(other.remoteReference()).isNull();
    assertThat(requireFinal(name("d1")).body()).isNull();
    InboxOperation operation = reader.findOperation("t1", "global", name("op")).orElseThrow();
    assertThat(operation.conflict()).isTrue();
    assertThat(operation.body()).isNull();
    assertThat(conflicts()).isEqualTo(1);
    assertThat(requireFinal(name("d3")).body()).isEqualTo("sane");
    // A higher revision does not clear the flag: a person does.
    send(reply("op", name("d4"), 3, "RESOLVED", "SUCCEEDED", "RECONCILED", "three").build());
    assertThat(requireFinal(name("d4")).conflict()).isTrue();
    // The answer of a read under the same id tells nothing of the operation.
    send(reply("op", name("d5"), 0, "PASSED_THROUGH", null, "EXECUTED", "read").build());
    assertThat(requireFinal(name("d5")).body()).isEqualTo("read");
  }

  /** A refusal may come under any revision and must neither change nor contradict the operation. */
  @Test
  void refusalsAndRepliesWithoutAResultAreNoConflict() throws SQLException {
    run(pool);
    send(reply("op", name("d1"), 2, "HELD_UNKNOWN", "SUCCEEDED", null, null).build());
    send(reply("op", name("d2"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "one").build());
    send(reply("op", name("d3"), 2, "FINGERPRINT_MISMATCH", "SUCCEEDED", null, null).build());
    send(reply("op", name("d4"), 0, "UNAUTHORIZED", null, null, null).build());
    send(reply(null, name("d5"), 0, "INVALID", null, null, null).build());
    for (int i = 1; i <= 5; i++) {
      assertThat(requireFinal(name("d" + i)).conflict()).isFalse();
    }
    assertThat(reader.findOperation("t1", "global", name("op")).orElseThrow().body())
        .isEqualTo("one");
    assertThat(conflicts()).isZero();
  }

  @Test
  void oldRepliesGoWithTheirOperationsButNotThoseOfWhatIsOpenInConflictOrInTheOutbox()
      throws SQLException {
    run(pool);
    send(reply("settled", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    send(reply("settled", name("d2"), 2, "REPLAYED", "SUCCEEDED", "REPLAYED", "x").build());
    send(reply("again", name("d3"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    send(reply("again", name("d4"), 2, "REPLAYED", "SUCCEEDED", "REPLAYED", "x").build());
    send(
        reply("open", name("d5"), 2, "HELD_UNKNOWN", "UNKNOWN_RECONCILIATION", null, null).build());
    send(reply("twice", name("d6"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "one").build());
    send(reply("twice", name("d7"), 2, "REPLAYED", "SUCCEEDED", "REPLAYED", "two").build());
    send(reply("changed", name("d8"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    send(reply("unread", name("d9"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    send(reply(null, name("d10"), 0, "INVALID", null, null, null).build());
    for (int i = 1; i <= 10; i++) {
      requireFinal(name("d" + i));
    }
    String mine = " like '" + name("") + "%'";
    execute(
        "update ichido.inbox_reply set received_at = now() - interval '31 days' where delivery_id"
            + mine
            + " and delivery_id <> '"
            + name("d4")
            + "'");
    execute(
        "update ichido.inbox_operation set updated_at = now() - interval '31 days' where"
            + " operation_id"
            + mine
            + " and operation_id <> '"
            + name("changed")
            + "'");
    execute("create table ichido.outbox (id text primary key)");
    try {
      execute("insert into ichido.outbox values ('" + name("d9") + "')");
      assertThat(number("select ichido.inbox_delete_replies('30 days', 2)")).isEqualTo(2);
      assertThat(number("select ichido.inbox_delete_replies('30 days')")).isEqualTo(2);
      assertThat(number("select ichido.inbox_delete_replies('30 days')")).isZero();
    } finally {
      execute("drop table ichido.outbox");
    }
    assertThat(IntStream.rangeClosed(1, 10).filter(i -> !reader.repliesTo(name("d" + i)).isEmpty()))
        .containsExactly(4, 5, 6, 7, 8, 9);
    assertThat(reader.findOperation("t1", "global", name("settled"))).isEmpty();
    for (String kept : List.of("again", "open", "twice", "changed", "unread")) {
      assertThat(reader.findOperation("t1", "global", name(kept))).as(kept).isPresent();
    }
    assertThat(number("select ichido.inbox_delete_replies('30 days')")).isEqualTo(1);
    assertThat(reader.findOperation("t1", "global", name("unread"))).isEmpty();
  }

  /** Killed after the commit of the database, before anything else: nothing is applied twice. */
  @Test
  void afterACrashReadingGoesOnFromTheStoredOffset() throws SQLException {
    InboxRole first = run(pool);
    send(reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    requireFinal(name("d1"));
    first.close();
    // What would be redelivered if Kafka's own offsets were the truth would come again here.
    execute("delete from ichido.inbox_reply where delivery_id = '" + name("d1") + "'");
    InboxConfig other =
        new InboxConfig(
            kafka(),
            Map.of("schema.registry.url", registry.url()),
            topics.prefix(),
            "a-group-without-offsets-" + topics.prefix(),
            null,
            null,
            false);
    InboxRole second = new InboxRole(other, pool, meters);
    roles.add(second);
    second.start();
    send(reply("op", name("d2"), 2, "REPLAYED", "SUCCEEDED", "REPLAYED", "x").build());
    requireFinal(name("d2"));
    assertThat(reader.repliesTo(name("d1"))).isEmpty();
  }

  @Test
  void ofABatchThatFailsNothingStaysAndItComesAgain() {
    AtomicInteger commits = new AtomicInteger();
    run(failingCommits(commits, 3));
    send(reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    requireFinal(name("d1"));
    assertThat(commits.get()).isGreaterThan(3);
    assertThat(reader.repliesTo(name("d1"))).hasSize(1);
    assertThat(meters.counter("ichido.inbox.trouble").count()).isEqualTo(3);
  }

  @Test
  void whileItsDatabaseIsAwayItWaits() {
    AtomicInteger connections = new AtomicInteger();
    InboxRole role =
        run(
            proxy(
                DataSource.class,
                pool,
                (method, result) -> result,
                method -> {
                  if (method.equals("getConnection") && connections.getAndIncrement() < 4) {
                    throw new SQLException("away", "08001");
                  }
                }));
    send(reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    assertThat(requireFinal(name("d1")).body()).isEqualTo("x");
    assertThat(role.failure()).isEmpty();
    await().atMost(PATIENCE).until(role::ready);
  }

  /** A paused twin applies what it still holds after another one has gone on. */
  @Test
  void aTwinThatIsBehindChangesNothing() throws SQLException {
    InboxStore store = new InboxStore(new Positions(pool));
    TopicPartition partition = new TopicPartition(name("topic"), 0);
    Placed<InboxStore.Told> one = received(partition, 10, name("d1"));
    Placed<InboxStore.Told> two = received(partition, 11, name("d2"));
    store.apply(List.of(one, two), Map.of(partition, 12L));
    InboxStore.Applied late = store.apply(List.of(one), Map.of(partition, 11L));
    assertThat(late.applied()).isZero();
    assertThat(late.skipped()).isEqualTo(1);
    assertThat(new Positions(pool).next(List.of(partition))).containsEntry(partition, 12L);
  }

  @Test
  void oversizeAndUnstorableTextsDoNotStopIt() {
    run(pool);
    String huge = "x".repeat(900_000);
    send(
        reply(null, name("d1"), 0, "INVALID", null, null, null)
            .setOperationId("o".repeat(100_000))
            .setDetail("nul \0 inside")
            .build());
    send(reply("op", name("d2"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", huge).build());
    assertThat(requireFinal(name("d1")).detail()).isEqualTo("nul \uFFFD inside");
    assertThat(requireFinal(name("d1")).operationId()).hasSize(300);
    assertThat(requireFinal(name("d2")).body()).hasSize(900_000);
  }

  @Test
  void whatCannotBeDecodedGoesToTheDeadLettersAndTheRestGoesOn() {
    run(pool);
    sendRaw("not avro".getBytes(StandardCharsets.UTF_8));
    send(reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    requireFinal(name("d1"));
    await().atMost(PATIENCE).until(() -> deadLetters().size() == 1);
    assertThat(deadLetters().getFirst().getCode()).isEqualTo("UNDECODABLE");
    assertThat(deadLetters().getFirst().getRole()).isEqualTo("inbox");
    assertThat(deadLetters().getFirst().getSourceTopic()).isEqualTo(topics.replies());
  }

  @Test
  void whatCannotBeDecodedWaitsForARegistryThatIsAway() throws Exception {
    InMemoryRegistryLog log = new InMemoryRegistryLog();
    RegistryServer away = RegistryServer.start(log, 0);
    int port = away.port();
    away.close();
    InboxRole role = run(pool, null, away.url());
    sendRaw("not avro".getBytes(StandardCharsets.UTF_8));
    await().atMost(PATIENCE).until(() -> meters.counter("ichido.inbox.trouble").count() > 0);
    assertThat(role.failure()).isEmpty();
    assertThat(role.ready()).isFalse();
    assertThat(meters.find("ichido.inbox.dead.letters").counter()).isNull();
    try (RegistryServer back = RegistryServer.start(log, port)) {
      await().atMost(PATIENCE).until(role::ready);
      assertThat(meters.counter("ichido.inbox.dead.letters", "code", "UNDECODABLE").count())
          .isEqualTo(1);
      RecordSerdes itsOwn = RecordSerdes.from(Map.of("schema.registry.url", back.url()));
      assertThat(deadLetters(itsOwn))
          .extracting(DeadLetter::getCode)
          .containsExactly("UNDECODABLE");
    }
  }

  @Test
  void whoFollowsSeesEveryReplyOnceAndInOrder() throws Exception {
    run(pool);
    long cursor = reader.listAfter(0, 100_000).stream().mapToLong(InboxReply::seq).max().orElse(0);
    List<String> seen = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      send(reply("op" + i, name("f" + i), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    }
    while (seen.size() < 50) {
      List<InboxReply> page = reader.awaitAfter(cursor, 7, PATIENCE);
      assertThat(page).isNotEmpty();
      page.forEach(r -> seen.add(r.deliveryId()));
      cursor = page.getLast().seq();
    }
    assertThat(seen).doesNotHaveDuplicates().hasSize(50);
    assertThat(reader.awaitAfter(cursor, 7, Duration.ofMillis(50))).isEmpty();
  }

  @Test
  void aTopicThatWasMadeAnewIsReadFromItsBeginning() throws Exception {
    InboxStore store = new InboxStore(new Positions(pool));
    Map<TopicPartition, Long> ahead = new HashMap<>();
    for (int p = 0; p < 2; p++) {
      ahead.put(new TopicPartition(topics.replies(), p), 1_000L);
    }
    store.apply(List.of(), ahead);
    run(pool);
    send(reply("op", name("d1"), 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build());
    assertThat(requireFinal(name("d1")).body()).isEqualTo("x");
  }

  /** Its executor died and nobody waits for it: no reply tells of that, the journal does. */
  @Test
  @Tag("FR-17")
  void anOperationThatNobodyWaitsForIsFoundInItsState() {
    run(pool);
    String tenant = name("tenant");
    OperationReader operations = new OperationReader(pool);
    OperationFilter unknown =
        new OperationFilter(tenant, "UNKNOWN_RECONCILIATION", "pay", "agent:a");
    send(entry(tenant, "one", 1, "CLAIMED", "ABSENT", "IN_PROGRESS", 10).build());
    send(
        entry(tenant, "one", 2, "LEASE_EXPIRED", "IN_PROGRESS", "UNKNOWN_RECONCILIATION", 20)
            .build());
    send(entry(tenant, "two", 1, "CLAIMED", "ABSENT", "IN_PROGRESS", 21).build());
    send(
        entry(
                tenant,
                "one",
                3,
                "STILL_UNKNOWN",
                "UNKNOWN_RECONCILIATION",
                "UNKNOWN_RECONCILIATION",
                30)
            .setReported("ABSENT")
            .setReportedAttempt(1)
            .setReason("NOT_FOUND")
            .build());
    await().atMost(PATIENCE).until(() -> changedAt(operations, tenant, "one") == 30);

    OperationSummary one = operations.list(unknown, Long.MAX_VALUE, 10).getFirst();
    assertThat(one.stateSince()).isEqualTo(Instant.ofEpochMilli(20));
    assertThat(one.knownSince()).isEqualTo(Instant.ofEpochMilli(10));
    assertThat(one.workflowId()).isEqualTo("w-1");
    assertThat(operations.timeline(tenant, "global", name("one")))
        .extracting(JournalLine::verdict, JournalLine::reported, JournalLine::reason)
        .containsExactly(
            tuple("CLAIMED", null, null),
            tuple("LEASE_EXPIRED", null, null),
            tuple("STILL_UNKNOWN", "ABSENT", "NOT_FOUND"));
    assertThat(operations.workflow(tenant, "w-1"))
        .extracting(OperationSummary::operationId)
        .containsExactly(name("one"), name("two"));
    OperationFilter all = new OperationFilter(tenant, null, null, null);
    List<OperationSummary> page = operations.list(all, Long.MAX_VALUE, 1);
    assertThat(page.getFirst().operationId()).isEqualTo(name("two"));
    assertThat(operations.list(all, page.getFirst().seq(), 10))
        .extracting(OperationSummary::operationId)
        .containsExactly(name("one"));
    assertThat(
            operations.list(new OperationFilter(tenant, null, null, "agent:b"), Long.MAX_VALUE, 10))
        .isEmpty();

    SimpleMeterRegistry told = new SimpleMeterRegistry();
    Clock later = Clock.fixed(Instant.ofEpochMilli(7_020), ZoneOffset.UTC);
    try (UnknownGauges gauges = new UnknownGauges(operations, later, told)) {
      gauges.look();
      assertThat(unknown(told, "ichido.unknown.operations", tenant)).isEqualTo(1);
      assertThat(unknown(told, "ichido.unknown.oldest.seconds", tenant)).isEqualTo(7);
      send(
          entry(tenant, "one", 4, "RECONCILED", "UNKNOWN_RECONCILIATION", "SUCCEEDED", 40).build());
      await().atMost(PATIENCE).until(() -> changedAt(operations, tenant, "one") == 40);
      gauges.look();
      assertThat(told.find("ichido.unknown.operations").tag("tenant", tenant).gauge()).isNull();
    }
  }

  @Test
  void whatTheLedgerForgetsGoesFromTheTables() {
    run(pool);
    String tenant = name("tenant");
    OperationReader operations = new OperationReader(pool);
    send(entry(tenant, "gone", 1, "CLAIMED", "ABSENT", "IN_PROGRESS", 10).build());
    send(entry(tenant, "gone", 2, "SETTLED", "IN_PROGRESS", "SUCCEEDED", 20).build());
    send(entry(tenant, "again", 3, "EXPIRED", "SUCCEEDED", "EXPIRED", 30).build());
    send(entry(tenant, "gone", 0, "EXPIRED", "EXPIRED", "ABSENT", 40).build());
    send(entry(tenant, "again", 0, "EXPIRED", "EXPIRED", "ABSENT", 41).build());
    send(entry(tenant, "again", 1, "CLAIMED", "ABSENT", "IN_PROGRESS", 42).build());
    await().atMost(PATIENCE).until(() -> changedAt(operations, tenant, "again") == 42);

    assertThat(operations.find(tenant, "global", name("gone"))).isEmpty();
    assertThat(operations.timeline(tenant, "global", name("gone"))).isEmpty();
    assertThat(operations.find(tenant, "global", name("again")).orElseThrow().knownSince())
        .isEqualTo(Instant.ofEpochMilli(42));
    assertThat(operations.timeline(tenant, "global", name("again"))).hasSize(1);
  }

  /** Lines that leave an operation as it is, or that are about none. */
  @Test
  void remarksAndRefusalsDoNotTouchWhatIsKnown() {
    run(pool);
    String tenant = name("tenant");
    OperationReader operations = new OperationReader(pool);
    send(entry(tenant, "op", 1, "CLAIMED", "ABSENT", "IN_PROGRESS", 10).build());
    send(entry(tenant, "op", 2, "SETTLED", "IN_PROGRESS", "SUCCEEDED", 20).setAlarm(true).build());
    send(
        entry(tenant, "op", 1, "SUSPECTED_REMINT", "IN_PROGRESS", "IN_PROGRESS", 25)
            .setSuspectOf("earlier")
            .build());
    send(entry(tenant, "op", 2, "REPLAYED", "SUCCEEDED", "SUCCEEDED", 30).build());
    send(entry(tenant, "refused", 0, "INVALID", "ABSENT", "ABSENT", 31).build());
    send(entry(tenant, "last", 1, "CLAIMED", "ABSENT", "IN_PROGRESS", 32).build());
    await().atMost(PATIENCE).until(() -> changedAt(operations, tenant, "last") == 32);

    OperationSummary operation = operations.find(tenant, "global", name("op")).orElseThrow();
    assertThat(operation.state()).isEqualTo("SUCCEEDED");
    assertThat(operation.revision()).isEqualTo(2);
    assertThat(operation.changedAt()).isEqualTo(Instant.ofEpochMilli(20));
    assertThat(operation.alarm()).isTrue();
    assertThat(operations.timeline(tenant, "global", name("op")))
        .extracting(JournalLine::verdict)
        .containsExactly("CLAIMED", "SETTLED", "SUSPECTED_REMINT", "REPLAYED");
    assertThat(operations.timeline(tenant, "global", name("refused"))).isEmpty();
  }

  @Test
  void aTwinOfTheJournalThatIsBehindChangesNothing() throws SQLException {
    JournalStore store = new JournalStore(new Positions(pool));
    TopicPartition partition = new TopicPartition(name("journal"), 0);
    String tenant = name("tenant");
    List<Placed<JournalMapper.Told>> lines = new ArrayList<>();
    lines.add(told(partition, 5, entry(tenant, "op", 1, "CLAIMED", "ABSENT", "IN_PROGRESS", 10)));
    lines.add(
        told(partition, 6, entry(tenant, "op", 2, "SETTLED", "IN_PROGRESS", "SUCCEEDED", 20)));
    assertThat(store.apply(lines, Map.of(partition, 7L))).isEqualTo(2);
    assertThat(store.apply(lines.subList(0, 1), Map.of(partition, 6L))).isZero();
    OperationReader operations = new OperationReader(pool);
    assertThat(operations.find(tenant, "global", name("op")).orElseThrow().state())
        .isEqualTo("SUCCEEDED");
    assertThat(operations.timeline(tenant, "global", name("op"))).hasSize(2);
  }

  private static double unknown(SimpleMeterRegistry told, String gauge, String tenant) {
    return told.get(gauge).tag("tenant", tenant).tag("action", "pay").gauge().value();
  }

  private static Placed<JournalMapper.Told> told(
      TopicPartition partition, long offset, JournalEntry.Builder entry) {
    return new Placed<>(
        partition, offset, Objects.requireNonNull(JournalMapper.findTold(entry.build())));
  }

  private long changedAt(OperationReader operations, String tenant, String operation) {
    return operations
        .find(tenant, "global", name(operation))
        .map(found -> found.changedAt().toEpochMilli())
        .orElse(0L);
  }

  private JournalEntry.Builder entry(
      String tenant,
      String operation,
      long revision,
      String verdict,
      String before,
      String after,
      long at) {
    return JournalEntry.newBuilder()
        .setTenant(tenant)
        .setScope("global")
        .setOperationId(name(operation))
        .setRevision(revision)
        .setEvent("DEADLINE_REACHED")
        .setVerdict(verdict)
        .setStateBefore(before)
        .setStateAfter(after)
        .setAttempt(1)
        .setAction("pay")
        .setPrincipal("agent:a")
        .setFingerprintVersion(1)
        .setWorkflowId("w-1")
        .setAt(Instant.ofEpochMilli(at));
  }

  private void send(JournalEntry entry) {
    byte[] value = serdes.serializer(JournalEntry.class).serialize(topics.journal(), entry);
    try {
      producer
          .send(
              new ProducerRecord<>(
                  topics.journal(), 0, "k".getBytes(StandardCharsets.UTF_8), value))
          .get();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private Placed<InboxStore.Told> received(TopicPartition partition, long offset, String delivery) {
    OperationReply reply =
        reply("op", delivery, 2, "SETTLED", "SUCCEEDED", "EXECUTED", "x").build();
    return new Placed<>(
        partition,
        offset,
        new InboxStore.Told(ReplyMapper.toReply(reply, null), ReplyMapper.findResultHash(reply)));
  }

  private String name(String name) {
    return topics.prefix() + "-" + name;
  }

  private static Map<String, String> kafka() {
    return Map.of("bootstrap.servers", broker.bootstrapServers());
  }

  private InboxRole run(DataSource dataSource) {
    return run(dataSource, null);
  }

  private InboxRole run(DataSource dataSource, @Nullable Boolean claimedReplies) {
    return run(dataSource, claimedReplies, registry.url());
  }

  private InboxRole run(
      DataSource dataSource, @Nullable Boolean claimedReplies, String registryUrl) {
    InboxRole role =
        new InboxRole(
            new InboxConfig(
                kafka(),
                Map.of("schema.registry.url", registryUrl),
                topics.prefix(),
                null,
                null,
                claimedReplies,
                false),
            dataSource,
            meters);
    roles.add(role);
    role.start();
    return role;
  }

  private InboxReply requireFinal(String delivery) {
    try {
      return reader.awaitFinal(delivery, PATIENCE).orElseThrow();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private OperationReply.Builder claimed(String operation, String delivery) {
    return reply(operation, delivery, 1, "CLAIMED", "IN_PROGRESS", null, null).setFinal$(false);
  }

  private OperationReply.Builder reply(
      @Nullable String operation,
      String delivery,
      long revision,
      String verdict,
      @Nullable String state,
      @Nullable String marker,
      @Nullable String body) {
    return OperationReply.newBuilder()
        .setTenant("t1")
        .setScope("global")
        .setOperationId(operation == null ? null : name(operation))
        .setDeliveryId(delivery)
        .setPrincipal("agent:a")
        .setVerdict(verdict)
        .setState(state)
        .setAttempt(1)
        .setRevision(revision)
        .setFinal$(true)
        .setMarker(marker)
        .setRemoteReference(marker == null ? null : "ref")
        .setBody(body)
        .setOriginalAt(Instant.ofEpochMilli(1_000))
        .setDiffering(List.of("a\"b\\", "c"))
        .setDecidedAt(Instant.ofEpochMilli(2_000));
  }

  private void send(OperationReply reply) {
    sendRaw(serdes.serializer(OperationReply.class).serialize(topics.replies(), reply));
  }

  private void sendRaw(byte[] value) {
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topics.replies(), 0, "k".getBytes(StandardCharsets.UTF_8), value);
    record.headers().add("traceparent", "00-trace".getBytes(StandardCharsets.UTF_8));
    try {
      producer.send(record).get();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private List<DeadLetter> deadLetters() {
    return deadLetters(serdes);
  }

  private List<DeadLetter> deadLetters(RecordSerdes serdes) {
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            new HashMap<String, Object>(kafka()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          List.of(
              new TopicPartition(topics.deadLetters(), 0),
              new TopicPartition(topics.deadLetters(), 1));
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      List<DeadLetter> letters = new ArrayList<>();
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (ends.entrySet().stream().anyMatch(e -> consumer.position(e.getKey()) < e.getValue())) {
        consumer
            .poll(Duration.ofMillis(100))
            .forEach(
                r ->
                    letters.add(
                        serdes
                            .deserializer(DeadLetter.class)
                            .deserialize(topics.deadLetters(), r.value())));
      }
      return letters;
    }
  }

  private long conflicts() throws SQLException {
    return number(
        "select count(*) from ichido.inbox_conflict where source_topic = '"
            + topics.replies()
            + "'");
  }

  private static long number(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The first commits do not reach the server. */
  private static DataSource failingCommits(AtomicInteger commits, int failures) {
    return proxy(
        DataSource.class,
        pool,
        (method, result) ->
            result instanceof Connection connection
                ? proxy(
                    Connection.class,
                    connection,
                    (m, r) -> r,
                    m -> {
                      if (m.equals("commit") && commits.getAndIncrement() < failures) {
                        throw new SQLException("lost", "08006");
                      }
                    })
                : result,
        m -> {});
  }

  private interface After {
    @Nullable Object apply(String method, @Nullable Object result);
  }

  private interface Before {
    void check(String method) throws SQLException;
  }

  private static <T> T proxy(Class<T> type, T real, After after, Before before) {
    return type.cast(
        Proxy.newProxyInstance(
            InboxRoleIT.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              before.check(method.getName());
              try {
                return after.apply(method.getName(), method.invoke(real, arguments));
              } catch (InvocationTargetException e) {
                throw e.getCause() == null ? e : e.getCause();
              }
            }));
  }
}
