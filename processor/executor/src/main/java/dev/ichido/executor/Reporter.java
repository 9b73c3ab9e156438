package dev.ichido.executor;

import dev.ichido.executor.Caller.Told;
import dev.ichido.executor.claim.ClaimStore;
import dev.ichido.executor.claim.Recording;
import dev.ichido.executor.wire.ResultMapper;
import dev.ichido.schemas.CarriedHeaders;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.RefusedRecord;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.schemas.wire.RegistryUnavailableException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.Serializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps reports in their claim rows, many in one statement, and then sends them. A report is given
 * up only when the role ends: then its claim, without a result, is left to the lease.
 */
final class Reporter implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Reporter.class);
  private static final int BATCH = 500;
  private static final long RETRY_MILLIS = 250;

  /** Batches begin at least this far apart: each is a transaction and a request. */
  private static final Duration APART = Duration.ofMillis(5);

  private final ClaimStore claims;
  private final Producer<byte[], byte[]> producer;
  private final Serializer<dev.ichido.schemas.OperationResult> results;
  private final Serializer<DeadLetter> deadLetters;
  private final Topics topics;
  private final String reporter;
  private final Meters meters;
  private final ScheduledExecutorService timer;
  private final Consumer<Throwable> fail;
  private final LinkedBlockingQueue<Outgoing> queue = new LinkedBlockingQueue<>();
  private final AtomicInteger open = new AtomicInteger();

  /** A send blocks while the broker is away; what comes after it must be kept all the same. */
  private final ExecutorService sending =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("ichido-executor-send").factory());

  private volatile boolean ended;

  /** Something to be sent; {@code acknowledged} runs when the broker has it. */
  private sealed interface Outgoing {
    Runnable acknowledged();

    record Result(Work work, Told told, Report report, boolean kept, Runnable acknowledged)
        implements Outgoing {}

    record Refused(ConsumerRecord<byte[], byte[]> source, DeadLetter letter, Runnable acknowledged)
        implements Outgoing {}
  }

  Reporter(
      ClaimStore claims,
      Producer<byte[], byte[]> producer,
      RecordSerdes serdes,
      Topics topics,
      String reporter,
      Meters meters,
      ScheduledExecutorService timer,
      Consumer<Throwable> fail) {
    this.claims = claims;
    this.producer = producer;
    this.results = serdes.serializer(dev.ichido.schemas.OperationResult.class);
    this.deadLetters = serdes.serializer(DeadLetter.class);
    this.topics = topics;
    this.reporter = reporter;
    this.meters = meters;
    this.timer = timer;
    this.fail = fail;
  }

  void report(Work work, Told told, Report report, Runnable acknowledged) {
    meters.report(report);
    open.incrementAndGet();
    queue.add(
        new Outgoing.Result(
            work, told, report, !told.keep() && told.largeBody() == null, acknowledged));
  }

  void refuse(ConsumerRecord<byte[], byte[]> source, DeadLetter letter, Runnable acknowledged) {
    meters.deadLetter(letter.getCode());
    open.incrementAndGet();
    queue.add(new Outgoing.Refused(source, letter, acknowledged));
  }

  /** Reports that are not acknowledged yet. */
  int open() {
    return open.get();
  }

  void end() {
    ended = true;
  }

  @Override
  public void run() {
    List<Outgoing> batch = new ArrayList<>();
    long begun = System.nanoTime() - APART.toNanos();
    while (!ended) {
      batch.clear();
      try {
        Outgoing first = queue.poll(100, TimeUnit.MILLISECONDS);
        if (first == null) {
          continue;
        }
        batch.add(first);
      } catch (InterruptedException e) {
        break;
      }
      LockSupport.parkNanos(begun + APART.toNanos() - System.nanoTime());
      begun = System.nanoTime();
      queue.drainTo(batch, BATCH - 1);
      try {
        keep(batch);
      } catch (SQLException e) {
        LOG.warn("Results can't be recorded and are tried again: {}", e.getMessage());
        meters.trouble("record");
        later(batch);
        continue;
      }
      List<Outgoing> kept = List.copyOf(batch);
      sending.execute(() -> kept.forEach(this::send));
    }
    sending.shutdown();
  }

  private void keep(List<Outgoing> batch) throws SQLException {
    List<Recording> recordings = new ArrayList<>();
    for (Outgoing outgoing : batch) {
      if (outgoing instanceof Outgoing.Result result && !result.kept()) {
        recordings.add(
            new Recording(
                result.work().command.recordKey(),
                result.told().keep() ? result.work().command.attempt() : 0,
                result.report(),
                result.told().largeBody()));
      }
    }
    claims.record(recordings);
    batch.replaceAll(
        outgoing ->
            outgoing instanceof Outgoing.Result r
                ? new Outgoing.Result(r.work(), r.told(), r.report(), true, r.acknowledged())
                : outgoing);
  }

  private void send(Outgoing outgoing) {
    try {
      var unused =
          producer.send(
              toRecord(outgoing),
              (metadata, failure) -> {
                if (failure == null) {
                  open.decrementAndGet();
                  outgoing.acknowledged().run();
                } else {
                  troubled(outgoing, failure);
                }
              });
    } catch (RuntimeException e) {
      troubled(outgoing, e);
    }
  }

  private void troubled(Outgoing outgoing, Throwable failure) {
    if (ended) {
      return;
    }
    meters.trouble("send");
    boolean passing =
        failure instanceof RetriableException || failure instanceof RegistryUnavailableException;
    if (!passing && (failure instanceof ApiException || failure instanceof RuntimeException)) {
      fail.accept(failure);
      return;
    }
    LOG.warn("A report was not sent and is tried again: {}", failure.getMessage());
    later(List.of(outgoing));
  }

  private void later(List<Outgoing> again) {
    List<Outgoing> copy = List.copyOf(again);
    if (!ended) {
      var unused = timer.schedule(() -> queue.addAll(copy), RETRY_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private ProducerRecord<byte[], byte[]> toRecord(Outgoing outgoing) {
    return switch (outgoing) {
      case Outgoing.Result r ->
          carrying(
              new ProducerRecord<>(
                  topics.results(),
                  r.work().command.recordKey().getBytes(StandardCharsets.UTF_8),
                  results.serialize(
                      topics.results(),
                      ResultMapper.toResult(r.work().command, r.report(), reporter))),
              r.work().carried);
      case Outgoing.Refused d ->
          carrying(
              new ProducerRecord<>(
                  topics.deadLetters(),
                  RefusedRecord.of(d.source().key(), d.source().value()).letterKey(),
                  deadLetters.serialize(topics.deadLetters(), d.letter())),
              CarriedHeaders.of(d.source().headers()));
    };
  }

  private static ProducerRecord<byte[], byte[]> carrying(
      ProducerRecord<byte[], byte[]> record, List<Header> carried) {
    carried.forEach(record.headers()::add);
    return record;
  }
}
