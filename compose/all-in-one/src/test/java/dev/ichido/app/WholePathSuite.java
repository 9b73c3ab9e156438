package dev.ichido.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.cli.Ran;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.LoopbackPorts;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import dev.ichido.registry.InMemoryRegistryLog;
import dev.ichido.registry.RegistryServer;
import dev.ichido.schemas.TopicAdminException;
import dev.ichido.schemas.wire.RegistryUnavailableException;
import dev.ichido.schemas.wire.SchemaRefusedException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** Each role alone, by one configuration file, against servers that exist. */
abstract class WholePathSuite {
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  @TempDir Path temp;

  private RegistryServer registry;
  private CountingRemote remote;

  /** Where Kafka and the database are. */
  record Servers(String bootstrap, String url, String user, String password) {}

  abstract Servers servers();

  @BeforeEach
  void begin() throws IOException {
    registry = RegistryServer.start(new InMemoryRegistryLog(), 0);
    remote = CountingRemote.start();
  }

  @AfterEach
  void end() {
    remote.close();
    registry.close();
  }

  @Test
  void oneOperationGoesAllTheWayAndItsDuplicateIsReplayed() throws Exception {
    Path file = write(servers(), registry.url().toString());
    Ran migrated = Ran.of("migrate", "--config", file.toString());
    assertThat(migrated.code()).as(migrated.err()).isZero();
    assertThat(migrated.out()).contains("slot ichido_outbox created").contains("t.intents");
    Ran again = Ran.of("migrate", "--config", file.toString());
    assertThat(again.out()).contains("outbox: 0 migrations").contains("topics created: \n");

    IchidoConfig config = new ConfigLoader(name -> "from-env").load(file);
    List<LoneRole> roles = new ArrayList<>();
    try {
      for (LoneRole.Kind kind : LoneRole.Kind.values()) {
        roles.add(LoneRole.start(kind, config));
      }
      assertThat(get(roles.getFirst().httpUrl() + "/health"))
          .contains("\"relay\":\"ready\"", "\"pid\":" + ProcessHandle.current().pid());
      assertThat(get(roles.getFirst().httpUrl() + "/metrics")).contains("jvm_memory_used_bytes");
      InboxReply first = publish(file);
      assertThat(first.state()).isEqualTo("SUCCEEDED");
      InboxReply second = publish(file);
      assertThat(second.verdict()).isEqualTo("REPLAYED");
      assertThat(second.body()).isEqualTo(first.body());
      assertThat(remote.effects()).isEqualTo(1);
    } finally {
      roles.forEach(LoneRole::close);
    }
  }

  @Test
  void aWrongPasswordIsSaidWithoutTheWord() throws IOException {
    Servers right = servers();
    Path file =
        write(
            new Servers(right.bootstrap(), right.url(), right.user(), "not-the-password"),
            registry.url().toString());
    for (String command : List.of("migrate", "relay", "executor", "inbox")) {
      Ran ran = Ran.of(command, "--config", file.toString());
      assertThat(ran.code()).as(command + ran.err()).isIn(1, 2);
      assertThat(ran.err())
          .as(command)
          .contains("DATABASE_")
          .contains("password")
          .doesNotContain("not-the-password")
          .doesNotContain("\tat ");
    }
  }

  @Test
  void serversThatDoNotAnswerAreNamed() throws IOException {
    Servers right = servers();
    String nowhere = LoopbackPorts.HOST + ":" + LoopbackPorts.free();
    Ran broker =
        Ran.of(
            "migrate",
            "--config",
            write(
                    new Servers(nowhere, right.url(), right.user(), right.password()),
                    registry.url().toString())
                .toString());
    failed(broker, "KAFKA_UNREACHABLE");
    Ran database =
        Ran.of(
            "inbox",
            "--config",
            write(
                    new Servers(
                        right.bootstrap(),
                        "jdbc:postgresql://" + nowhere + "/ichido",
                        right.user(),
                        right.password()),
                    registry.url().toString())
                .toString());
    failed(database, "DATABASE_UNREACHABLE");
    Ran noRegistry = Ran.of("migrate", "--config", write(right, "http://" + nowhere).toString());
    failed(noRegistry, "REGISTRY");
  }

  /** A role that waited for them in silence would look like one that works. */
  @Test
  void aRoleLooksAtItsServersBeforeItStarts() throws IOException {
    Servers right = servers();
    String nowhere = LoopbackPorts.HOST + ":" + LoopbackPorts.free();
    IchidoConfig noKafka =
        load(
            new Servers(nowhere, right.url(), right.user(), right.password()),
            registry.url().toString());
    IchidoConfig noRegistry = load(right, "http://" + nowhere);
    IchidoConfig good = load(right, registry.url().toString());
    for (LoneRole.Kind role :
        List.of(LoneRole.Kind.PROCESSOR, LoneRole.Kind.EXECUTOR, LoneRole.Kind.INBOX)) {
      assertThatThrownBy(() -> new Preflight(noKafka, Duration.ofMillis(500)).require(role))
          .isInstanceOfSatisfying(
              TopicAdminException.class, e -> assertThat(e.code()).isEqualTo("KAFKA_UNREACHABLE"));
      assertThatThrownBy(() -> new Preflight(good, PATIENCE).require(role))
          .isInstanceOfSatisfying(
              TopicAdminException.class, e -> assertThat(e.code()).isEqualTo("TOPIC_MISSING"))
          .hasMessageContaining("migrate");
    }
    var unused = new Migration(good).topics();
    for (LoneRole.Kind role :
        List.of(LoneRole.Kind.PROCESSOR, LoneRole.Kind.EXECUTOR, LoneRole.Kind.INBOX)) {
      assertThatThrownBy(() -> new Preflight(noRegistry, PATIENCE).require(role))
          .isInstanceOf(RegistryUnavailableException.class);
      assertThatThrownBy(() -> new Preflight(good, PATIENCE).require(role))
          .isInstanceOf(SchemaRefusedException.class);
    }
    var unusedToo = new Migration(good).schemas();
    for (LoneRole.Kind role : LoneRole.Kind.values()) {
      new Preflight(good, PATIENCE).require(role);
    }
  }

  private IchidoConfig load(Servers at, String registryUrl) throws IOException {
    Path file = write(at, registryUrl);
    return new ConfigLoader(name -> "from-env")
        .load("test", Files.readString(file).replace("prefix: t,", "prefix: preflight,"));
  }

  private static void failed(Ran ran, String code) {
    assertThat(ran.code()).as(ran.err()).isEqualTo(1);
    assertThat(ran.err()).contains(code).contains("Expected").doesNotContain("\tat ");
  }

  private InboxReply publish(Path file) throws Exception {
    Ran published =
        Ran.of(
            "publish",
            "--config",
            file.toString(),
            "--tenant",
            "t1",
            "--principal",
            "agent:a",
            "--action",
            "pay",
            "--operation-id",
            "whole-path-operation-1",
            "--issued-at",
            Instant.now().truncatedTo(ChronoUnit.HOURS).toString());
    assertThat(published.code()).as(published.err()).isZero();
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setUrl(servers().url());
    source.setUser(servers().user());
    source.setPassword(servers().password());
    return new InboxReader(source)
        .awaitFinal(published.out().strip(), Duration.ofSeconds(90))
        .orElseThrow();
  }

  private Path write(Servers at, String registryUrl) throws IOException {
    Path secret = Files.writeString(temp.resolve("secret"), at.password() + "\n");
    String database =
        "url: '%s', user: '%s', password: '${file:%s}'".formatted(at.url(), at.user(), secret);
    return Files.writeString(
        temp.resolve("ichido.yaml"),
        """
        kafka: { bootstrap.servers: '%s' }
        registry: { schema.registry.url: '%s', max.retries: 0 }
        topics: { prefix: t, partitions: 2 }
        outbox: { %s }
        relay: { start_timeout: 8s }
        processor: { application_id: t-processor, state_dir: '%s' }
        executor: { database: { %s } }
        inbox: { database: { %s } }
        tenants: { t1: { principals: ['agent:a'] } }
        actions:
          pay:
            effect: write
            http: { method: POST, url: 'http://127.0.0.1:%d/pay', reference: $.id }
        """
            .formatted(
                at.bootstrap(),
                registryUrl,
                database,
                temp.resolve("state"),
                database,
                database,
                remote.port()));
  }

  private static String get(String url) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString())
          .body();
    }
  }
}
