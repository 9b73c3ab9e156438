package dev.ichido.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.ichido.embedded.EmbeddedBroker;
import dev.ichido.embedded.LoopbackPorts;
import dev.ichido.schemas.TopicAdmin;
import dev.ichido.schemas.TopicAdmin.Difference;
import dev.ichido.schemas.TopicAdminException;
import dev.ichido.schemas.TopicSpec;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RegistryClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TopicSetupIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  @TempDir static Path temp;
  private static EmbeddedBroker broker;

  @BeforeAll
  static void start() {
    broker = EmbeddedBroker.start(temp.resolve("kafka"));
  }

  @AfterAll
  static void stop() {
    broker.close();
  }

  private static Map<String, Object> kafka() {
    // Settings of producers and consumers share the map.
    return Map.of("bootstrap.servers", broker.bootstrapServers(), "acks", "all", "group.id", "g");
  }

  private static TopicAdmin topics() {
    return TopicAdmin.connect(kafka(), TIMEOUT);
  }

  @Test
  void missingTopicsAreCreatedOnceAndAsSpecified() throws Exception {
    List<TopicSpec> specs = new Topics("once").specs(3, (short) 1);
    try (TopicAdmin topics = topics();
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      assertThat(topics.ensure(specs).created())
          .containsExactlyElementsOf(specs.stream().map(TopicSpec::name).toList());

      TopicAdmin.Report again = topics.ensure(specs);

      assertThat(again.created()).isEmpty();
      assertThat(again.differences()).isEmpty();
      assertThat(config(admin, "once.intents", "message.timestamp.type"))
          .isEqualTo("LogAppendTime");
      assertThat(config(admin, "once.journal", "retention.ms"))
          .isEqualTo(Long.toString(Topics.JOURNAL_RETENTION.toMillis()));
      assertThat(config(admin, "once.dead-letters", "max.message.bytes"))
          .isEqualTo(Integer.toString(Topics.DEAD_LETTER_BYTES));
    }
  }

  private static String config(Admin admin, String topic, String key) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    return admin
        .describeConfigs(List.of(resource))
        .all()
        .get()
        .values()
        .iterator()
        .next()
        .get(key)
        .value();
  }

  @Test
  void differencesAreToldAndNotChanged() throws Exception {
    List<TopicSpec> specs = new Topics("differs").specs(2, (short) 1);
    try (TopicAdmin topics = topics();
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin.createTopics(List.of(new NewTopic("differs.intents", 5, (short) 1))).all().get();
      topics.ensure(specs);
      admin
          .incrementalAlterConfigs(
              Map.of(
                  new ConfigResource(ConfigResource.Type.TOPIC, "differs.replies"),
                  List.of(
                      new AlterConfigOp(
                          new ConfigEntry("retention.ms", "1000"), AlterConfigOp.OpType.SET))))
          .all()
          .get();

      await()
          .untilAsserted(
              () ->
                  assertThat(topics.ensure(specs).differences())
                      .contains(
                          new Difference("differs.intents", "partitions", "2", "5", true),
                          new Difference(
                              "differs.intents",
                              "message.timestamp.type",
                              "LogAppendTime",
                              "CreateTime",
                              true),
                          new Difference(
                              "differs.replies", "retention.ms", "604800000", "1000", false)));
      assertThatThrownBy(() -> topics.requireSafe(specs))
          .isInstanceOfSatisfying(
              TopicAdminException.class, e -> assertThat(e.code()).isEqualTo("TOPIC_UNSAFE"))
          .hasMessageContaining("partitions of topic \"differs.intents\"")
          .hasMessageNotContaining("differs.replies");
      List<Difference> found = topics.ensure(specs).differences();
      assertThat(found)
          .allSatisfy(d -> assertThat(d.topic()).isIn("differs.intents", "differs.replies"));
      assertThat(found.get(0).toString())
          .isEqualTo(
              "Expected partitions of topic \"differs.intents\" to be 2, but it is 5. Check whether that is meant; it is not changed here.");
    }
  }

  @Test
  void severalAtOnceCreateEachTopicOnce() throws Exception {
    List<TopicSpec> specs = new Topics("at-once").specs(1, (short) 1);
    List<String> created = new ArrayList<>();
    try (var pool = Executors.newFixedThreadPool(4)) {
      List<Future<TopicAdmin.Report>> reports = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        reports.add(
            pool.submit(
                () -> {
                  try (TopicAdmin topics = topics()) {
                    return topics.ensure(specs);
                  }
                }));
      }
      for (Future<TopicAdmin.Report> report : reports) {
        created.addAll(report.get().created());
        assertThat(report.get().differences()).isEmpty();
      }
    }
    assertThat(created)
        .containsExactlyInAnyOrderElementsOf(specs.stream().map(TopicSpec::name).toList());
  }

  @Test
  void moreReplicasThanBrokersAreRefusedWithTheTopicsName() {
    try (TopicAdmin topics = topics()) {
      assertThatThrownBy(() -> topics.ensure(new Topics("too-many").specs(1, (short) 3)))
          .isInstanceOfSatisfying(
              TopicAdminException.class, e -> assertThat(e.code()).isEqualTo("TOPIC_NOT_CREATED"))
          .hasMessageContaining("too-many.intents")
          .hasMessageContaining("topics.replication_factor");
    }
  }

  @Test
  void brokerThatDoesNotAnswerIsNamed() {
    Map<String, Object> nobody = Map.of("bootstrap.servers", "127.0.0.1:" + LoopbackPorts.free());
    try (TopicAdmin topics = TopicAdmin.connect(nobody, Duration.ofMillis(500))) {
      assertThatThrownBy(() -> topics.ensure(new Topics("x").specs(1, (short) 1)))
          .isInstanceOfSatisfying(
              TopicAdminException.class, e -> assertThat(e.code()).isEqualTo("KAFKA_UNREACHABLE"))
          .hasMessageContaining("bootstrap.servers");
    }
  }

  @Test
  void schemasOfAllTopicsAreRegisteredAheadOfTime() throws Exception {
    List<TopicSpec> specs = new Topics("ahead").specs(1, (short) 1);
    try (RegistryServer server = RegistryServer.start(new InMemoryRegistryLog(), 0)) {
      RegistryClient client = RegistryClient.from(Map.of("schema.registry.url", server.url()));

      List<RegistryClient.Registered> registered = client.registerAll(specs);

      assertThat(registered)
          .extracting(RegistryClient.Registered::subject)
          .containsExactlyElementsOf(specs.stream().map(TopicSpec::subject).toList());
      assertThat(registered)
          .extracting(RegistryClient.Registered::compatibility)
          .containsOnly(Optional.of(RegistryClient.COMPATIBILITY));
      assertThat(
              RegistryClient.from(Map.of("schema.registry.url", server.url())).registerAll(specs))
          .isEqualTo(registered);
    }
  }
}
