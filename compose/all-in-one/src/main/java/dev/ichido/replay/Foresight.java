package dev.ichido.replay;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.app.LivePolicy;
import dev.ichido.cli.TopicAccess;
import dev.ichido.config.IchidoConfig;
import dev.ichido.outbox.RecordKey;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.WireException;
import dev.ichido.topology.DedupTopology;
import dev.ichido.topology.NodeNames;
import dev.ichido.topology.policy.PolicySet;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.internals.WrappedStateStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/**
 * What records would lead to: the shipped topology decides on them now, over a copy of the ledger
 * as the changelogs have it. Nothing leaves, and nothing of the running system is touched.
 */
public final class Foresight {
  private static final JsonMapper JSON = new JsonMapper();

  private final TopicAccess access;
  private final PolicySet policies;
  private final String applicationId;
  private final Optional<DataSource> claims;
  private final RecordSerdes serdes;

  /** An operation that would run again. */
  public record Prospect(String topic, String recordKey, String verdict, String why) {}

  /**
   * What would become of the records.
   *
   * @param reads reads that would run again, as they do for each delivery
   */
  public record Report(
      int records, SortedMap<String, Integer> verdicts, List<Prospect> wouldRun, int reads) {
    /** A document for machines. */
    public ObjectNode toJson() {
      ObjectNode document = JSON.createObjectNode().put("dry_run", true).put("records", records);
      ObjectNode counts = document.putObject("verdicts");
      verdicts.forEach(counts::put);
      document.put("reads", reads);
      ArrayNode list = document.putArray("would_run");
      for (Prospect prospect : wouldRun) {
        list.addObject()
            .put("topic", prospect.topic())
            .put("record_key", prospect.recordKey())
            .put("verdict", prospect.verdict())
            .put("why", prospect.why());
      }
      return document;
    }

    /** For people. */
    public String toText() {
      StringBuilder text = new StringBuilder("records               %d%n".formatted(records));
      verdicts.forEach((verdict, count) -> text.append("  %-20s%d%n".formatted(verdict, count)));
      text.append("reads run again       %d%n".formatted(reads));
      text.append("would run again       %d%n".formatted(wouldRun.size()));
      for (Prospect prospect : wouldRun) {
        text.append("  %s  %s%n".formatted(prospect.recordKey(), prospect.why()));
      }
      return text.toString();
    }
  }

  /**
   * Of a system.
   *
   * @param config of its processor
   * @param claims the executor's table; empty where it can't be reached
   */
  public Foresight(TopicAccess access, IchidoConfig config, Optional<DataSource> claims) {
    this.access = access;
    this.policies = LivePolicy.fixed(config).rules();
    this.applicationId = config.processor().applicationId();
    this.claims = claims;
    this.serdes = RecordSerdes.from(access.registry());
  }

  /** Decides on the records in their order. */
  public Report of(List<Recorded> records) {
    Path folder;
    try {
      folder = Files.createTempDirectory("ichido-foresight");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try (TopologyTestDriver driver = driver(folder)) {
      fill(
          driver,
          records.stream()
              .flatMap(it -> Stream.concat(Stream.of(it.keyText()), original(it).stream()))
              .collect(Collectors.toSet()));
      SortedMap<String, Integer> verdicts = new TreeMap<>();
      List<Prospect> wouldRun = new ArrayList<>();
      int reads = 0;
      for (Recorded record : records) {
        if (record.topic() == ReplayTopic.COMMANDS) {
          Optional<SideEffectCommand> command = decode(SideEffectCommand.class, record.value());
          if (command.filter(it -> it.getKind() == CommandKind.READ).isPresent()) {
            reads++;
          }
          command.flatMap(it -> prospect(record, it)).ifPresent(wouldRun::add);
          continue;
        }
        pipe(driver, record);
        List<JournalEntry> lines = drain(driver, access.topics().journal(), JournalEntry.class);
        lines.forEach(line -> verdicts.merge(line.getVerdict(), 1, Integer::sum));
        for (SideEffectCommand command :
            drain(driver, access.topics().commands(), SideEffectCommand.class)) {
          switch (command.getKind()) {
            case EXECUTE -> wouldRun.add(prospect(record, lines, command));
            case READ -> reads++;
            case RECONCILE, UNRECOGNIZED -> {}
          }
        }
      }
      return new Report(records.size(), verdicts, wouldRun, reads);
    } finally {
      delete(folder);
    }
  }

  /** Key of the operation that a compensation asks before it runs. */
  private Optional<String> original(Recorded record) {
    return record.topic() == ReplayTopic.INTENTS
        ? decode(ToolIntent.class, record.value())
            .filter(it -> it.getCompensates() != null)
            .map(it -> RecordKey.of(it.getTenant(), it.getScope(), it.getCompensates()))
        : Optional.empty();
  }

  private static Prospect prospect(
      Recorded record, List<JournalEntry> lines, SideEffectCommand command) {
    JournalEntry line = lines.getLast();
    return new Prospect(
        record.topic().word(),
        record.keyText(),
        line.getVerdict(),
        "the ledger has it as "
            + lines.getFirst().getStateBefore()
            + ", so this is "
            + line.getVerdict()
            + " with attempt "
            + command.getAttempt());
  }

  /** An executor calls when it can take the claim of the attempt before its deadline. */
  private Optional<Prospect> prospect(Recorded record, SideEffectCommand command) {
    boolean over =
        command.getDeadline() != null
            && !Clock.systemUTC().instant().isBefore(command.getDeadline());
    if (command.getKind() != CommandKind.EXECUTE || over) {
      return Optional.empty();
    }
    String why;
    if (claims.isEmpty()) {
      why = "the executor's claims can't be looked at";
    } else if (isClaimed(claims.get(), record.keyText(), command.getAttempt())) {
      return Optional.empty();
    } else {
      why = "nobody claimed attempt " + command.getAttempt() + ", and its deadline is not over";
    }
    return Optional.of(new Prospect(record.topic().word(), record.keyText(), "-", why));
  }

  private static boolean isClaimed(DataSource database, String recordKey, int attempt) {
    try (Connection connection = database.getConnection();
        PreparedStatement select =
            connection.prepareStatement(
                "select from ichido.claim where record_key = ? and attempt = ?")) {
      select.setString(1, recordKey);
      select.setInt(2, attempt);
      try (ResultSet row = select.executeQuery()) {
        return row.next();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private TopologyTestDriver driver(Path folder) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "foresight");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:0");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
    properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, "true");
    return new TopologyTestDriver(
        new DedupTopology(access.topics(), serdes, () -> policies, new SimpleMeterRegistry())
            .build(properties),
        properties,
        Clock.systemUTC().instant());
  }

  /**
   * Bytes go in as the changelogs have them: of the operations in question, of those that they
   * undo, and of the side paths.
   */
  private void fill(TopologyTestDriver driver, Set<String> keys) {
    for (String name :
        List.of(NodeNames.LEDGER_STORE, NodeNames.BUDGET_STORE, NodeNames.SUSPECT_STORE)) {
      Map<Bytes, byte[]> rows = new LinkedHashMap<>();
      try (TopicTail tail =
          TopicTail.fromStart(access.kafka(), applicationId + "-" + name + "-changelog")) {
        tail.read(
            row -> {
              if (!name.equals(NodeNames.LEDGER_STORE)
                  || keys.contains(new String(row.key(), UTF_8))) {
                rows.put(Bytes.wrap(row.key()), row.value());
              }
            });
      }
      KeyValueStore<Bytes, byte[]> store = bytes(driver.getKeyValueStore(name));
      rows.forEach(store::put);
    }
  }

  @SuppressWarnings("unchecked") // Every layer under the serdes is a store of bytes.
  private static KeyValueStore<Bytes, byte[]> bytes(KeyValueStore<?, ?> store) {
    return (KeyValueStore<Bytes, byte[]>) ((WrappedStateStore<?, ?, ?>) store).wrapped();
  }

  private void pipe(TopologyTestDriver driver, Recorded record) {
    driver
        .createInputTopic(
            record.topic().in(access.topics()),
            new ByteArraySerializer(),
            new ByteArraySerializer())
        .pipeInput(
            new TestRecord<>(
                record.key(),
                record.value(),
                new RecordHeaders(record.headers()),
                Clock.systemUTC().instant()));
  }

  private <T extends SpecificRecordBase> List<T> drain(
      TopologyTestDriver driver, String topic, Class<T> type) {
    if (!driver.producedTopicNames().contains(topic)) {
      return List.of();
    }
    return driver
        .createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer())
        .readValuesToList()
        .stream()
        .flatMap(value -> decode(type, value).stream())
        .toList();
  }

  private <T extends SpecificRecordBase> Optional<T> decode(
      Class<T> type, byte @Nullable [] value) {
    try {
      return value == null
          ? Optional.empty()
          : Optional.ofNullable(serdes.deserializer(type).deserialize("replay", value));
    } catch (WireException poison) {
      return Optional.empty();
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
