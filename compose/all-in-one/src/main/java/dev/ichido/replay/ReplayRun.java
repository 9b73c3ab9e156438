package dev.ichido.replay;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.cli.CommandException;
import dev.ichido.cli.TopicAccess;
import dev.ichido.schemas.CarriedHeaders;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.WireException;
import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends records again, under a mark that all they lead to carries, and counts by that mark: what
 * agents do meanwhile is not counted.
 */
public final class ReplayRun {
  private final TopicAccess access;
  private final RecordSerdes serdes;
  private final Optional<EffectCount> effects;
  private final String run = "replay-" + UUID.randomUUID();

  /**
   * How to send.
   *
   * @param times how often each record is sent
   * @param perSecond most records a second; 0 for as fast as it goes
   * @param seed of the order; null for the order in which the broker took them in
   * @param patience how long those that read may take
   */
  public record Manner(int times, int perSecond, @Nullable Long seed, Duration patience) {}

  /**
   * On a running system.
   *
   * @param effects empty where nothing tells effects: then new commands stand for them
   */
  public ReplayRun(TopicAccess access, Optional<EffectCount> effects) {
    this.access = access;
    this.serdes = RecordSerdes.from(access.registry());
    this.effects = effects;
  }

  /** Reads records out of the topics; those that a replay wrote are left out. */
  public static List<Recorded> read(TopicAccess access, Selection selection) {
    List<Recorded> records = new ArrayList<>();
    try {
      for (ReplayTopic topic : selection.topics()) {
        try (TopicTail tail = TopicTail.fromStart(access.kafka(), topic.in(access.topics()))) {
          tail.read(
              record -> {
                if (record.headers().lastHeader(CarriedHeaders.REPLAY) == null
                    && selection.holds(record)
                    && (selection.partition() == null
                        || selection.partition() == record.partition())) {
                  records.add(
                      new Recorded(
                          topic,
                          record.timestamp(),
                          record.key(),
                          record.value(),
                          List.of(record.headers().toArray())));
                }
              });
        }
      }
    } catch (KafkaException e) {
      throw failed(e);
    }
    records.sort(Comparator.comparingLong(Recorded::at));
    return records;
  }

  /**
   * Sends them, waits and counts.
   *
   * @throws CommandException KAFKA_FAILED
   */
  public ReplayReport send(List<Recorded> records, Manner manner)
      throws InterruptedException, SQLException {
    List<Recorded> all = new ArrayList<>();
    for (int i = 0; i < manner.times(); i++) {
      all.addAll(records);
    }
    if (manner.seed() != null) {
      Collections.shuffle(all, new Random(manner.seed()));
    }
    Map<String, String> kafka = access.kafka();
    Set<String> deliveries = deliveries(records);
    Set<String> commandIds = commandIds(records);
    Map<String, OperationReply> first = firstReplies(deliveries, keys(records));
    long effectsBefore = effects.isPresent() ? effects.get().count(commandIds) : 0;
    try (Admin admin = Admin.create(new HashMap<String, Object>(kafka));
        TopicTail commands = TopicTail.fromNow(kafka, access.topics().commands());
        TopicTail results = TopicTail.fromNow(kafka, access.topics().results());
        TopicTail journal = TopicTail.fromNow(kafka, access.topics().journal());
        TopicTail replies = TopicTail.fromNow(kafka, access.topics().replies());
        TopicTail refused = TopicTail.fromNow(kafka, access.topics().deadLetters())) {
      Map<TopicPartition, Set<Long>> sent = send(all, manner.perSecond());
      long until = System.nanoTime() + manner.patience().toNanos();
      List<SideEffectCommand> made = new ArrayList<>();
      boolean finished = settle(new Readers(admin), sent, commands, results, made, until);
      List<SideEffectCommand> toAct =
          made.stream().filter(it -> it.getKind() == CommandKind.EXECUTE).toList();
      toAct.forEach(command -> commandIds.add(command.getCommandId()));
      Compared compared = compare(first, replies);
      Set<String> silent = new HashSet<>(deliveries);
      silent.removeAll(compared.read());
      silent.removeAll(compared.same());
      silent.removeAll(compared.differing());
      List<ConsumerRecord<byte[], byte[]>> letters = marked(refused.read());
      return new ReplayReport(
          run,
          finished,
          all.size(),
          verdicts(journal),
          toAct.size(),
          (int) made.stream().filter(it -> it.getKind() == CommandKind.READ).count(),
          effects.isPresent() ? effects.get().count(commandIds) - effectsBefore : toAct.size(),
          effects.map(EffectCount::source).orElse("commands"),
          letters.size(),
          (int) letters.stream().filter(it -> !isOf(it, compared.same())).count(),
          compared.same().size() + compared.differing().size(),
          silent.size(),
          List.copyOf(compared.differing()));
    } catch (KafkaException e) {
      throw failed(e);
    } catch (ExecutionException e) {
      throw failed(e.getCause());
    }
  }

  /** Waits until nothing that bears the mark is left to be taken in. */
  private boolean settle(
      Readers readers,
      Map<TopicPartition, Set<Long>> sent,
      TopicTail commands,
      TopicTail results,
      List<SideEffectCommand> made,
      long until)
      throws InterruptedException, ExecutionException {
    Map<TopicPartition, Long> open = new HashMap<>();
    sent.forEach((partition, offsets) -> open.put(partition, Collections.max(offsets) + 1));
    while (!open.isEmpty()) {
      if (!readers.await(open, until)) {
        return false;
      }
      open.clear();
      for (ConsumerRecord<byte[], byte[]> record : follow(commands, sent, open)) {
        decode(SideEffectCommand.class, record.value()).ifPresent(made::add);
      }
      follow(results, sent, open);
    }
    return true;
  }

  private List<ConsumerRecord<byte[], byte[]>> follow(
      TopicTail tail, Map<TopicPartition, Set<Long>> sent, Map<TopicPartition, Long> open) {
    List<ConsumerRecord<byte[], byte[]>> led = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> record : marked(tail.read())) {
      TopicPartition partition = new TopicPartition(record.topic(), record.partition());
      if (!sent.getOrDefault(partition, Set.of()).contains(record.offset())) {
        led.add(record);
        open.merge(partition, record.offset() + 1, Math::max);
      }
    }
    return led;
  }

  /** Offsets that the records got. */
  private Map<TopicPartition, Set<Long>> send(List<Recorded> records, int perSecond)
      throws InterruptedException, ExecutionException {
    Map<String, Object> settings = new HashMap<>(access.kafka());
    settings.put(ProducerConfig.ACKS_CONFIG, "all");
    settings.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
    settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.putIfAbsent(ProducerConfig.CLIENT_ID_CONFIG, "replay");
    Header mark = new RecordHeader(CarriedHeaders.REPLAY, run.getBytes(UTF_8));
    List<Future<RecordMetadata>> acknowledgements = new ArrayList<>(records.size());
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings)) {
      long start = System.nanoTime();
      for (int i = 0; i < records.size(); i++) {
        if (perSecond > 0) {
          long due = start + i * 1_000_000_000L / perSecond;
          for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
              throw new InterruptedException();
            }
          }
        }
        Recorded record = records.get(i);
        acknowledgements.add(
            producer.send(
                new ProducerRecord<>(
                    record.topic().in(access.topics()),
                    null,
                    record.key(),
                    record.value(),
                    new RecordHeaders(record.headers()).add(mark))));
      }
      producer.flush();
    }
    Map<TopicPartition, Set<Long>> sent = new HashMap<>();
    for (Future<RecordMetadata> acknowledgement : acknowledgements) {
      RecordMetadata at = acknowledgement.get();
      sent.computeIfAbsent(new TopicPartition(at.topic(), at.partition()), it -> new HashSet<>())
          .add(at.offset());
    }
    return sent;
  }

  private List<ConsumerRecord<byte[], byte[]>> marked(
      List<ConsumerRecord<byte[], byte[]>> records) {
    return records.stream()
        .filter(
            record -> {
              Header mark = record.headers().lastHeader(CarriedHeaders.REPLAY);
              return mark != null && new String(mark.value(), UTF_8).equals(run);
            })
        .toList();
  }

  private SortedMap<String, Integer> verdicts(TopicTail journal) {
    SortedMap<String, Integer> verdicts = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> record : marked(journal.read())) {
      decode(JournalEntry.class, record.value())
          .ifPresent(line -> verdicts.merge(line.getVerdict(), 1, Integer::sum));
    }
    return verdicts;
  }

  /** Of intents that name an operation: a read is answered anew each time. */
  private Set<String> deliveries(List<Recorded> records) {
    Set<String> deliveries = new HashSet<>();
    for (Recorded record : records) {
      if (record.topic() == ReplayTopic.INTENTS) {
        decode(ToolIntent.class, record.value())
            .filter(intent -> intent.getOperationId() != null)
            .ifPresent(intent -> deliveries.add(intent.getDeliveryId()));
      }
    }
    return deliveries;
  }

  private Set<String> commandIds(List<Recorded> records) {
    Set<String> ids = new HashSet<>();
    for (Recorded record : records) {
      if (record.topic() == ReplayTopic.COMMANDS) {
        decode(SideEffectCommand.class, record.value())
            .ifPresent(command -> ids.add(command.getCommandId()));
      }
    }
    return ids;
  }

  /** Operations whose commands or results are sent: what they lead to is told to any delivery. */
  private static Set<String> keys(List<Recorded> records) {
    return records.stream()
        .filter(record -> record.topic() != ReplayTopic.INTENTS)
        .map(Recorded::keyText)
        .collect(Collectors.toSet());
  }

  private Map<String, OperationReply> firstReplies(Set<String> deliveries, Set<String> keys) {
    Map<String, OperationReply> first = new HashMap<>();
    try (TopicTail tail = TopicTail.fromStart(access.kafka(), access.topics().replies())) {
      tail.read(
          record ->
              decode(OperationReply.class, record.value())
                  .filter(reply -> reply.getFinal$() && !isRead(reply))
                  .filter(
                      reply ->
                          deliveries.contains(reply.getDeliveryId())
                              || (record.key() != null
                                  && keys.contains(new String(record.key(), UTF_8))))
                  .ifPresent(reply -> first.putIfAbsent(reply.getDeliveryId(), reply)));
    } catch (KafkaException e) {
      throw failed(e);
    }
    return first;
  }

  /** An action that reads may be given an operation id; nothing of it is kept all the same. */
  private static boolean isRead(OperationReply reply) {
    return reply.getVerdict().equals("PASSED_THROUGH");
  }

  /** Deliveries by what they are told now; those of reads are told anew each time. */
  private record Compared(Set<String> same, Set<String> differing, Set<String> read) {}

  private Compared compare(Map<String, OperationReply> first, TopicTail replies) {
    Compared compared = new Compared(new HashSet<>(), new LinkedHashSet<>(), new HashSet<>());
    for (ConsumerRecord<byte[], byte[]> record : marked(replies.read())) {
      decode(OperationReply.class, record.value())
          .filter(OperationReply::getFinal$)
          .ifPresent(
              reply -> {
                String delivery = reply.getDeliveryId();
                OperationReply before = first.get(delivery);
                if (isRead(reply)) {
                  compared.read().add(delivery);
                } else if (before != null) {
                  (saysTheSame(before, reply) ? compared.same() : compared.differing())
                      .add(delivery);
                }
              });
    }
    compared.same().removeAll(compared.differing());
    return compared;
  }

  /** Whether a dead letter holds the intent of one of these deliveries. */
  private boolean isOf(ConsumerRecord<byte[], byte[]> letter, Set<String> deliveries) {
    return decode(DeadLetter.class, letter.value())
        .map(DeadLetter::getRecordValue)
        .flatMap(value -> decode(ToolIntent.class, bytes(value)))
        .filter(intent -> deliveries.contains(intent.getDeliveryId()))
        .isPresent();
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  /**
   * A refusal says the same when its reason does: the operation it speaks of may have moved on. A
   * result is the same apart from its marker, since what was executed then is replayed now.
   */
  private static boolean saysTheSame(OperationReply then, OperationReply now) {
    if (then.getMarker() == null || now.getMarker() == null) {
      return Objects.equals(then.getMarker(), now.getMarker())
          && then.getVerdict().equals(now.getVerdict())
          && Objects.equals(then.getCode(), now.getCode());
    }
    return Objects.equals(then.getState(), now.getState())
        && Objects.equals(then.getRemoteReference(), now.getRemoteReference())
        && Objects.equals(then.getBody(), now.getBody())
        && Objects.equals(then.getBodyHandle(), now.getBodyHandle())
        && Objects.equals(then.getResultSchema(), now.getResultSchema());
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

  private static CommandException failed(@Nullable Throwable cause) {
    return CommandException.failed(
        "KAFKA_FAILED",
        "Expected a broker that gives and takes records, but it failed ("
            + (cause == null ? "no reason given" : cause.getMessage())
            + "). Check kafka.bootstrap.servers and topics.prefix.",
        cause);
  }
}
