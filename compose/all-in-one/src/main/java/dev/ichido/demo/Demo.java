package dev.ichido.demo;

import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.app.Stack;
import dev.ichido.demo.DemoPlan.Planned;
import dev.ichido.inbox.InboxReply;
import dev.ichido.outbox.Outbox;
import dev.ichido.outbox.OutboxIntent;
import dev.ichido.schemas.Topics;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * The main job on a running stack: every write is delivered several times, the first two at the
 * same moment from two connections, the rest after the answer; every read once. Agent runs go on
 * beside each other, the calls of a run one after the other.
 */
public final class Demo {
  /** Agent runs at a time. */
  private static final int LANES = 8;

  /** Longer than a lease, its reconciliation and a second attempt. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Duration SLICE = Duration.ofSeconds(1);

  private final Stack stack;
  private final DemoPlan plan;
  private final DemoRun run;
  private final EffectBook book;
  private final int deliveriesPerWrite;
  private final Consumer<String> progress;
  private final Map<Planned, List<String>> deliveries = new ConcurrentHashMap<>();
  private String said = "";
  private int silent;

  Demo(
      Stack stack,
      DemoPlan plan,
      DemoRun run,
      EffectBook book,
      int deliveriesPerWrite,
      Consumer<String> progress) {
    this.stack = stack;
    this.plan = plan;
    this.run = run;
    this.book = book;
    this.deliveriesPerWrite = deliveriesPerWrite;
    this.progress = progress;
  }

  /** Runs all of it and counts. */
  DemoReport run(int inputLines) throws InterruptedException, SQLException {
    long start = System.nanoTime();
    long effectsBefore = effects();
    long deadLettersBefore = deadLetters();
    int total = plan.all().stream().mapToInt(call -> call.isWrite() ? deliveriesPerWrite : 1).sum();
    try (ReplyBoard board = new ReplyBoard(stack.dataSource());
        HikariDataSource connections = stack.runtimeConnections(2 * LANES)) {
      deliverAll(board, connections, total);
      return count(
          inputLines,
          board,
          effectsBefore,
          deadLetters() - deadLettersBefore,
          (System.nanoTime() - start) / 1e9);
    }
  }

  private void deliverAll(ReplyBoard board, HikariDataSource connections, int total)
      throws InterruptedException {
    ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    ExecutorService lanes = Executors.newFixedThreadPool(LANES);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (List<Planned> calls : plan.lanes()) {
        running.add(
            lanes.submit(
                () -> {
                  for (Planned call : calls) {
                    deliver(call, board, connections, threads);
                  }
                  return null;
                }));
      }
      for (Future<?> lane : running) {
        finish(lane, board, total);
      }
    } finally {
      lanes.shutdownNow();
      threads.shutdownNow();
    }
  }

  private void finish(Future<?> lane, ReplyBoard board, int total) throws InterruptedException {
    while (true) {
      try {
        lane.get(SLICE.toMillis(), TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException stillRunning) {
        stack.requireAlive();
        say(board.answered() + " of " + total + " deliveries answered, " + effects() + " effects");
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException cause) {
          throw cause;
        }
        throw new IllegalStateException(e.getCause());
      }
    }
  }

  /** Not the same line twice, except now and then to show that it is alive. */
  private void say(String line) {
    silent = line.equals(said) ? silent + 1 : 0;
    if (silent % 10 == 0) {
      progress.accept(line);
      said = line;
    }
  }

  private void deliver(
      Planned call, ReplyBoard board, HikariDataSource connections, ExecutorService threads)
      throws InterruptedException, SQLException, ExecutionException {
    int count = call.isWrite() ? deliveriesPerWrite : 1;
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      String id = UUID.randomUUID().toString();
      ids.add(id);
      board.expect(id);
    }
    deliveries.put(call, List.copyOf(ids));
    if (count == 1) {
      publish(call, ids.getFirst(), connections, new CyclicBarrier(1));
    } else {
      CyclicBarrier moment = new CyclicBarrier(2);
      Future<?> twin =
          threads.submit(
              () -> {
                publish(call, ids.get(1), connections, moment);
                return null;
              });
      publish(call, ids.getFirst(), connections, moment);
      twin.get();
    }
    await(board, ids.getFirst());
    for (String id : ids.subList(Math.min(2, count), count)) {
      publish(call, id, connections, new CyclicBarrier(1));
    }
    for (String id : ids) {
      await(board, id);
    }
  }

  /** One transaction of the agent runtime; its commit waits for the other one. */
  private void publish(
      Planned call, String deliveryId, HikariDataSource connections, CyclicBarrier moment)
      throws SQLException, InterruptedException {
    ToolCall said = call.call();
    OutboxIntent.Builder intent = call.isWrite() ? OutboxIntent.execute() : OutboxIntent.read();
    intent
        .tenant(call.tenant())
        .principal(DemoPlan.PRINCIPAL)
        .action(said.tool())
        .arguments(said.arguments())
        .issuedAt(run.issuedAt())
        .deliveryId(deliveryId);
    if (call.operationId() != null) {
      intent.operationId(call.operationId());
    }
    if (said.target() != null) {
      intent.target(said.target());
    }
    if (said.run() != null) {
      intent.workflowId(said.run());
    }
    if (said.step() != null) {
      intent.step(said.step());
    }
    try (Connection connection = connections.getConnection()) {
      Outbox.publish(connection, intent.build());
      moment.await();
      connection.commit();
    } catch (BrokenBarrierException e) {
      throw new IllegalStateException(e);
    }
  }

  private void await(ReplyBoard board, String deliveryId) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (board.await(deliveryId, SLICE).isEmpty() && System.nanoTime() < end) {
      stack.requireAlive();
    }
  }

  private long effects() {
    return plan.all().stream()
        .filter(Planned::isWrite)
        .map(Planned::operation)
        .distinct()
        .mapToLong(operation -> book.effectsOf(operation).size())
        .sum();
  }

  private long deadLetters() throws InterruptedException {
    Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
    String topic = new Topics(stack.config().topics().prefix()).deadLetters();
    for (int i = 0; i < stack.config().topics().partitions(); i++) {
      ends.put(new TopicPartition(topic, i), OffsetSpec.latest());
    }
    try (Admin admin = Admin.create(Map.copyOf(stack.config().kafka().values()))) {
      return admin.listOffsets(ends).all().get().values().stream()
          .mapToLong(end -> end.offset())
          .sum();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  private DemoReport count(
      int inputLines, ReplyBoard board, long effectsBefore, long deadLetters, double seconds) {
    List<String> findings = new ArrayList<>();
    Map<EffectBook.Operation, List<InboxReply>> answers = new LinkedHashMap<>();
    int sent = 0;
    long answered = 0;
    for (Planned call : plan.all()) {
      for (String id : deliveries.getOrDefault(call, List.of())) {
        sent++;
        Optional<InboxReply> latest = board.findLatest(id);
        if (latest.filter(InboxReply::isFinal).isPresent()) {
          answered++;
          if (call.isWrite()) {
            answers.computeIfAbsent(call.operation(), none -> new ArrayList<>()).add(latest.get());
          }
        } else {
          findings.add(
              "line %d (%s): a delivery has no last reply; the latest is %s"
                  .formatted(
                      call.call().line(),
                      call.call().tool(),
                      latest.map(InboxReply::verdict).orElse("none")));
        }
      }
    }
    long duplicates = 0;
    Map<EffectBook.Operation, Planned> operations = new LinkedHashMap<>();
    plan.all().stream()
        .filter(Planned::isWrite)
        .forEach(call -> operations.putIfAbsent(call.operation(), call));
    for (Map.Entry<EffectBook.Operation, Planned> entry : operations.entrySet()) {
      int done = book.effectsOf(entry.getKey()).size();
      duplicates += Math.max(0, done - 1);
      judge(entry.getValue(), done, answers.getOrDefault(entry.getKey(), List.of()), findings);
    }
    long effects = effects();
    return new DemoReport(
        inputLines,
        operations.size(),
        sent,
        effects,
        duplicates,
        answered,
        sent - answered,
        board.verdicts(),
        deadLetters,
        seconds,
        effects - effectsBefore,
        toolLines(),
        findings);
  }

  /** The answers of one operation against the remote's book. */
  private static void judge(
      Planned call, int effects, List<InboxReply> replies, List<String> findings) {
    String where = "line " + call.call().line() + " (" + call.call().tool() + "): ";
    if (effects > 1) {
      findings.add(where + effects + " effects");
    }
    List<InboxReply> successes =
        replies.stream().filter(reply -> "SUCCEEDED".equals(reply.state())).toList();
    if (!successes.isEmpty() && effects == 0) {
      findings.add(where + "told that it succeeded, but there is no effect");
    }
    if (!successes.isEmpty()
        && successes.stream()
            .anyMatch(
                reply ->
                    !Objects.equals(reply.body(), successes.getFirst().body())
                        || !Objects.equals(
                            reply.remoteReference(), successes.getFirst().remoteReference()))) {
      findings.add(where + "a duplicate was told another result than the first");
    }
  }

  private List<DemoReport.ToolLine> toolLines() {
    Map<String, List<Planned>> byTool = new TreeMap<>();
    plan.all()
        .forEach(
            call ->
                byTool.computeIfAbsent(call.call().tool(), none -> new ArrayList<>()).add(call));
    List<DemoReport.ToolLine> lines = new ArrayList<>();
    byTool.forEach(
        (tool, calls) ->
            lines.add(
                new DemoReport.ToolLine(
                    tool,
                    calls.getFirst().isWrite() ? "write" : "read",
                    calls.size(),
                    calls.stream()
                        .mapToInt(call -> deliveries.getOrDefault(call, List.of()).size())
                        .sum(),
                    calls.stream()
                        .filter(Planned::isWrite)
                        .map(Planned::operation)
                        .distinct()
                        .mapToLong(operation -> book.effectsOf(operation).size())
                        .sum())));
    return lines;
  }
}
