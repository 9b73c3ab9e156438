package dev.ichido.executor;

import static dev.ichido.executor.fake.RemoteFault.ACCEPT_THEN_TIME_OUT;
import static dev.ichido.executor.fake.RemoteFault.ANSWERS_TWICE;
import static dev.ichido.executor.fake.RemoteFault.CLEAN;
import static dev.ichido.executor.fake.RemoteFault.CLOSED_BEFORE_SETTLING;
import static dev.ichido.executor.fake.RemoteFault.CLOSED_WITHOUT_ANSWER;
import static dev.ichido.executor.fake.RemoteFault.DECLARED_SAFE;
import static dev.ichido.executor.fake.RemoteFault.ERROR_AFTER_SETTLING;
import static dev.ichido.executor.fake.RemoteFault.ERROR_BEFORE_SETTLING;
import static dev.ichido.executor.fake.RemoteFault.HUGE_ANSWER;
import static dev.ichido.executor.fake.RemoteFault.LYING_NOT_FOUND;
import static dev.ichido.executor.fake.RemoteFault.REDIRECT;
import static dev.ichido.executor.fake.RemoteFault.RESET_MID_BODY;
import static dev.ichido.executor.fake.RemoteFault.SLOW_ANSWER;
import static dev.ichido.executor.fake.RemoteFault.SLOW_LORIS;
import static dev.ichido.executor.fake.RemoteFault.STATUS_READ_UNAVAILABLE;
import static dev.ichido.schemas.Outcome.ABSENT;
import static dev.ichido.schemas.Outcome.COMMITTED;
import static dev.ichido.schemas.Outcome.FAILED_RETRYABLE;
import static dev.ichido.schemas.Outcome.SUCCEEDED;
import static dev.ichido.schemas.Outcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ichido.decision.StateName;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import dev.ichido.executor.claim.ClaimStore;
import dev.ichido.executor.fake.Effect;
import dev.ichido.executor.fake.FakeRemote;
import dev.ichido.executor.fake.LedgerRemote;
import dev.ichido.executor.fake.RemoteFault;
import dev.ichido.executor.http.ExecutorContracts;
import dev.ichido.executor.http.HttpRemotes;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.Topics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class ExecutorRoleIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String SECRET = "Bearer a-secret-of-the-remote";

  @TempDir private static Path folder;
  private static Stack stack;

  private final MeterRegistry meters = new SimpleMeterRegistry();
  private final List<AutoCloseable> open = new ArrayList<>();
  private Topics topics;
  private FakeRemote remote;
  private @Nullable Duration claimRetention;
  private int concurrency = 4;
  private Duration drain = Duration.ofSeconds(1);

  @BeforeAll
  static void startStack() {
    stack = new Stack(folder);
  }

  @AfterAll
  static void stopStack() {
    stack.close();
  }

  @BeforeEach
  void startRemote() {
    topics = stack.topics(2);
    remote = FakeRemote.start(new LedgerRemote());
  }

  @AfterEach
  void closeAll() throws Exception {
    remote.close();
    for (AutoCloseable closeable : open.reversed()) {
      closeable.close();
    }
  }

  @Test
  void anAttemptIsPerformedAndItsResultIsKeptAndSent() {
    start(httpHandlers());
    stack.send(topics, Commands.execute(name("plain"), Commands.note(name("plain"))));
    OperationResult result = awaitResults(name("plain"), 1).getFirst();
    assertThat(result.getKind()).isEqualTo(ResultKind.ATTEMPT);
    assertThat(result.getOutcome()).isEqualTo(SUCCEEDED);
    assertThat(result.getAttempt()).isEqualTo(1);
    assertThat(result.getRemoteStatus()).isEqualTo(201);
    assertThat(result.getRemoteReference())
        .isEqualTo(remote.book().effectsOf(name("plain")).getFirst().reference());
    assertThat(result.getBody()).contains("settled");
    assertThat(stack.raw(topics.results()).getFirst().headers().lastHeader("traceparent").value())
        .isEqualTo("00-trace".getBytes(StandardCharsets.UTF_8));
    assertThat(stack.raw(topics.results()).getFirst().key())
        .isEqualTo(("k1/t1/global/" + name("plain")).getBytes(StandardCharsets.UTF_8));
    awaitCommitted();
  }

  /** Three deliveries of one command: one call, and the amplification is there to be read. */
  @Test
  @Tag("FR-12")
  void aRedeliveredCommandIsNotPerformedAgainAndItsResultIsSentAgain() {
    start(httpHandlers());
    ToolCommand command = Commands.execute(name("again"), Commands.note(name("again")));
    stack.send(topics, command);
    awaitResults(name("again"), 1);
    stack.send(topics, command);
    stack.send(topics, command);
    List<OperationResult> results = awaitResults(name("again"), 3);
    assertThat(results)
        .extracting(OperationResult::getResultId)
        .containsOnly(results.getFirst().getResultId());
    assertThat(results)
        .extracting(OperationResult::getRemoteReference)
        .containsOnly(results.getFirst().getRemoteReference());
    assertThat(remote.book().effectsOf(name("again"))).hasSize(1);
    assertThat(remote.writes()).hasSize(1);
    assertThat(
            meters
                .counter("ichido.executor.deliveries", "kind", "execute", "action", "pay.transfer")
                .count())
        .isEqualTo(3);
    assertThat(meters.counter("ichido.executor.attempts", "action", "pay.transfer").count())
        .isEqualTo(1);
    assertThat(
            meters
                .counter("ichido.executor.remote.calls", "kind", "execute", "remote", "ledger")
                .count())
        .isEqualTo(1);
  }

  /**
   * What a fault is taken for.
   *
   * @param read what a status read then finds; null where nobody asks
   */
  private record Case(
      RemoteFault fault,
      Outcome outcome,
      @Nullable String reason,
      int effects,
      @Nullable Outcome read) {}

  private static final List<Case> CASES =
      List.of(
          new Case(CLEAN, SUCCEEDED, null, 1, null),
          new Case(ACCEPT_THEN_TIME_OUT, UNKNOWN, "FIRST_BYTE_TIMEOUT", 1, COMMITTED),
          new Case(ERROR_AFTER_SETTLING, UNKNOWN, "STATUS_UNEXPECTED", 1, COMMITTED),
          new Case(ERROR_BEFORE_SETTLING, UNKNOWN, "STATUS_UNEXPECTED", 0, ABSENT),
          new Case(ANSWERS_TWICE, SUCCEEDED, null, 1, null),
          new Case(SLOW_ANSWER, SUCCEEDED, null, 1, null),
          new Case(STATUS_READ_UNAVAILABLE, UNKNOWN, "FIRST_BYTE_TIMEOUT", 1, UNKNOWN),
          new Case(DECLARED_SAFE, FAILED_RETRYABLE, "NOT_ACCEPTED", 0, null),
          new Case(SLOW_LORIS, UNKNOWN, "TOTAL_TIMEOUT", 1, COMMITTED),
          new Case(RESET_MID_BODY, UNKNOWN, "ANSWER_INCOMPLETE", 1, COMMITTED),
          new Case(CLOSED_WITHOUT_ANSWER, UNKNOWN, "CONNECTION_LOST", 1, COMMITTED),
          new Case(CLOSED_BEFORE_SETTLING, UNKNOWN, "CONNECTION_LOST", 0, ABSENT),
          new Case(LYING_NOT_FOUND, UNKNOWN, "FIRST_BYTE_TIMEOUT", 1, UNKNOWN),
          new Case(HUGE_ANSWER, UNKNOWN, "RESPONSE_TOO_LARGE", 1, COMMITTED),
          new Case(REDIRECT, UNKNOWN, "REDIRECT_NOT_FOLLOWED", 0, ABSENT));

  /**
   * The seven answers of a downstream that settles money, and the ways in which a wire breaks, all
   * at once; then each unknown attempt is reconciled by reading its status.
   */
  @Test
  @Tag("FR-09")
  @Tag("FR-14")
  @Tag("FR-17")
  void whateverIsNotCertainIsUnknownAndAskedAboutAndNothingIsSentTwice() {
    assertThat(CASES).extracting(Case::fault).containsExactlyInAnyOrder(RemoteFault.values());
    concurrency = CASES.size();
    start(httpHandlers());
    for (Case it : CASES) {
      String operation = name(it.fault().name());
      remote.failNext(operation, it.fault());
      stack.send(topics, Commands.execute(operation, Commands.note(operation)));
    }
    Map<String, List<OperationResult>> results = awaitAll(CASES.size());
    int asked = 0;
    for (Case it : CASES) {
      String operation = name(it.fault().name());
      OperationResult result = results.getOrDefault(operation, List.of()).getFirst();
      assertThat(result.getOutcome()).as("%s", it).isEqualTo(it.outcome());
      assertThat(result.getReason()).as("%s", it).isEqualTo(it.reason());
      if (it.fault() == DECLARED_SAFE) {
        assertThat(result.getRetryAfterMs()).isEqualTo(7_000);
      }
      if (it.read() != null) {
        stack.send(topics, Commands.reconcile(operation, 1, false));
        asked++;
      }
    }
    results = awaitAll(CASES.size() + asked);
    for (Case it : CASES) {
      String operation = name(it.fault().name());
      List<OperationResult> told = results.getOrDefault(operation, List.of());
      List<Effect> effects = remote.book().effectsOf(operation);
      assertThat(told).as("%s", it).hasSize(it.read() == null ? 1 : 2);
      if (it.read() != null) {
        OperationResult report = told.getLast();
        assertThat(report.getKind()).isEqualTo(ResultKind.RECONCILE);
        assertThat(report.getOutcome()).as("%s", it).isEqualTo(it.read());
        assertThat(report.getRemoteReference())
            .as("%s", it)
            .isEqualTo(it.read() == COMMITTED ? effects.getFirst().reference() : null);
      }
      assertThat(effects).as("%s", it).hasSize(it.effects());
      assertThat(remote.writes())
          .filteredOn(write -> write.body().contains("\"" + operation + "\""))
          .as("%s", it)
          .hasSize(1);
    }
    assertThat(remote.writes())
        .allSatisfy(write -> assertThat(write.header("authorization")).hasValue(SECRET));
    assertThat(stack.claims())
        .filteredOn(row -> row.contains(topics.prefix() + "-"))
        .hasSize(CASES.size())
        .noneMatch(row -> row.contains(SECRET));
    for (String topic : List.of(topics.results(), topics.deadLetters())) {
      assertThat(stack.raw(topic))
          .noneMatch(r -> new String(r.value(), StandardCharsets.ISO_8859_1).contains(SECRET));
    }
  }

  @Test
  @Tag("FR-10")
  void aRevocationThatWinsProvesThatTheAttemptNeverStarted() {
    start(httpHandlers());
    String operation = name("revoked");
    stack.send(topics, Commands.reconcile(operation, 1, true));
    OperationResult revoked = awaitResults(operation, 1).getFirst();
    assertThat(revoked.getKind()).isEqualTo(ResultKind.ATTEMPT);
    assertThat(revoked.getOutcome()).isEqualTo(FAILED_RETRYABLE);
    assertThat(revoked.getReason()).isEqualTo("REVOKED");
    // The command was late, not lost: it finds its attempt revoked.
    stack.send(topics, Commands.execute(operation, Commands.note(operation)));
    OperationResult again = awaitResults(operation, 2).getLast();
    assertThat(again.getResultId()).isEqualTo(revoked.getResultId());
    assertThat(again.getReason()).isEqualTo("REVOKED");
    assertThat(remote.writes()).isEmpty();
    // The next attempt is free.
    stack.send(
        topics,
        Commands.command(
            ToolCommand.Kind.EXECUTE, operation, 2, Commands.note(operation), null, false));
    assertThat(awaitResults(operation, 3).getLast().getOutcome()).isEqualTo(SUCCEEDED);
    assertThat(remote.book().effectsOf(operation)).hasSize(1);
  }

  /** Its claim may have been deleted, so that it is missing proves nothing. */
  @Test
  @Tag("FR-10")
  void anAttemptThatIsOlderThanClaimsAreKeptIsAskedAboutAndNotRevoked() {
    claimRetention = Duration.ofDays(31);
    start(httpHandlers());
    String operation = name("ancient");
    stack.send(topics, Commands.reconcile(operation, 1, true));
    OperationResult report = awaitResults(operation, 1).getFirst();
    assertThat(report.getKind()).isEqualTo(ResultKind.RECONCILE);
    assertThat(report.getOutcome()).isEqualTo(ABSENT);
    assertThat(remote.requests()).hasSize(1);
  }

  @Test
  void anAttemptIsNotStartedAtOrAfterItsDeadline() {
    start(httpHandlers());
    String operation = name("over");
    stack.send(
        topics,
        Commands.command(
            ToolCommand.Kind.EXECUTE,
            operation,
            1,
            Commands.note(operation),
            Instant.now().minusMillis(1),
            false));
    OperationResult result = awaitResults(operation, 1).getFirst();
    assertThat(result.getOutcome()).isEqualTo(FAILED_RETRYABLE);
    assertThat(result.getReason()).isEqualTo("DEADLINE_PASSED");
    assertThat(remote.requests()).isEmpty();
  }

  /** Killed after the claim: nobody knows whether the call left, so only the remote can tell. */
  @Test
  @Tag("FR-09")
  @Tag("FR-10")
  void aClaimOfAnEarlierLifeIsLeftToTheLeaseAndThenAsked() throws SQLException {
    String operation = name("dead");
    ClaimStore dead = new ClaimStore(stack.pool, "executor/an-earlier-life");
    ToolCommand command = Commands.execute(operation, Commands.note(operation));
    dead.take(
        List.of(
            new ClaimRequest(
                command.recordKey(), 1, command.commandId(), command.action(), null, null)),
        Instant.now());
    start(httpHandlers());
    stack.send(topics, command);
    awaitCommitted();
    assertThat(stack.results(topics, operation)).isEmpty();
    assertThat(meters.counter("ichido.executor.claims", "answer", "left").count()).isEqualTo(1);
    stack.send(topics, Commands.reconcile(operation, 1, true));
    OperationResult report = awaitResults(operation, 1).getFirst();
    assertThat(report.getKind()).isEqualTo(ResultKind.RECONCILE);
    assertThat(report.getOutcome()).isEqualTo(ABSENT);
    assertThat(remote.writes()).isEmpty();
  }

  /** Killed after recording, before sending: the result is in the row, and is sent from there. */
  @Test
  @Tag("FR-09")
  void aResultThatWasRecordedButNotSentIsSentByTheNextLife() {
    ExecutorRole first = start(httpHandlers());
    String operation = name("recorded");
    ToolCommand command = Commands.execute(operation, Commands.note(operation));
    stack.send(topics, command);
    OperationResult sent = awaitResults(operation, 1).getFirst();
    first.close();
    // As if the send and the commit had been lost: another group reads all from the beginning.
    start(httpHandlers(), "another-group", stack.pool, Clock.systemUTC());
    OperationResult again = awaitResults(operation, 2).getLast();
    assertThat(again.getResultId()).isEqualTo(sent.getResultId());
    assertThat(again.getRemoteReference()).isEqualTo(sent.getRemoteReference());
    assertThat(remote.book().effectsOf(operation)).hasSize(1);
  }

  /** FR-01 and FR-13 on this side: the lease is over while the call runs; nothing is sent twice. */
  @Test
  @Tag("FR-01")
  @Tag("FR-13")
  void aCallThatOutlivesItsLeaseIsNotRevokedAndItsLateResultIsSent() throws Exception {
    CountDownLatch called = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger effects = new AtomicInteger();
    ToolHandler slow =
        command -> {
          called.countDown();
          goOn.await();
          effects.incrementAndGet();
          return ToolOutcome.succeeded("ref-1", "done");
        };
    ExecutorRole one = start(Map.of("pay.transfer", slow));
    // Another member of the group gets the reconcile command when partitions are spread.
    start(Map.of("pay.transfer", slow), "another-group", stack.pool, Clock.systemUTC());
    String operation = name("outlived");
    stack.send(topics, Commands.execute(operation, "{}"));
    called.await();
    stack.send(topics, Commands.reconcile(operation, 1, true));
    // The other group's executor finds the claim and must ask the remote, which can't tell.
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                stack.results(topics, operation).stream()
                    .anyMatch(r -> r.getKind() == ResultKind.RECONCILE));
    OperationResult report = stack.results(topics, operation).getFirst();
    assertThat(report.getOutcome()).isEqualTo(UNKNOWN);
    assertThat(report.getReason()).isEqualTo("NO_STATUS_READ");
    goOn.countDown();
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                stack.results(topics, operation).stream()
                    .anyMatch(r -> r.getOutcome() == SUCCEEDED));
    one.close();
    assertThat(effects).hasValue(1);
    assertThat(stack.results(topics, operation))
        .filteredOn(r -> r.getOutcome() == FAILED_RETRYABLE)
        .isEmpty();
  }

  /** The partition moves while the call runs; the next owner gets the same command. */
  @Test
  @Tag("FR-32")
  void aRebalanceWhileCallsRunDoesNotRepeatThem() {
    Map<String, Integer> calls = new ConcurrentHashMap<>();
    Semaphore gate = new Semaphore(0);
    ToolHandler gated =
        command -> {
          calls.merge(String.valueOf(command.operationId()), 1, Integer::sum);
          gate.acquire();
          return ToolOutcome.succeeded("ref-" + command.operationId(), null);
        };
    start(Map.of("pay.transfer", gated));
    for (int i = 0; i < 20; i++) {
      stack.send(topics, Commands.execute(name("move" + i), "{}"));
    }
    await().atMost(PATIENCE).until(() -> calls.size() == 4);
    ExecutorRole second = start(Map.of("pay.transfer", gated));
    await().atMost(PATIENCE).until(second::ready);
    gate.release(1000);
    await().atMost(PATIENCE).until(() -> byOperation().size() == 20);
    awaitCommitted();
    assertThat(calls.values()).hasSize(20).containsOnly(1);
    // Sent again by the next owner, who found it recorded, it is still the one report.
    assertThat(byOperation().values())
        .hasSize(20)
        .allSatisfy(told -> assertThat(told.stream().distinct()).hasSize(1));
  }

  @Test
  void commandsOfOneKeyAreTakenInOrderAndOthersAreNotHeldUp() {
    List<String> order = java.util.Collections.synchronizedList(new ArrayList<>());
    Semaphore gate = new Semaphore(0);
    String held = name("held");
    ToolHandler handler =
        command -> {
          if (held.equals(command.operationId()) && command.attempt() == 1) {
            gate.acquire();
          }
          order.add(command.operationId() + "#" + command.attempt());
          return ToolOutcome.succeeded(null, null);
        };
    start(Map.of("pay.transfer", handler));
    for (int attempt = 1; attempt <= 3; attempt++) {
      stack.send(
          topics, Commands.command(ToolCommand.Kind.EXECUTE, held, attempt, "{}", null, false));
    }
    stack.send(topics, Commands.execute(name("free"), "{}"));
    awaitResults(name("free"), 1);
    assertThat(order).containsExactly(name("free") + "#1");
    gate.release();
    awaitResults(held, 3);
    assertThat(order).containsExactly(name("free") + "#1", held + "#1", held + "#2", held + "#3");
  }

  @Test
  void noMoreCallsRunAgainstOneRemoteThanAllowed() {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    Semaphore gate = new Semaphore(0);
    ToolHandler handler =
        command -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          gate.acquire();
          running.decrementAndGet();
          return ToolOutcome.succeeded(null, null);
        };
    start(Map.of("pay.transfer", handler));
    for (int i = 0; i < 30; i++) {
      stack.send(topics, Commands.execute(name("many" + i), "{}"));
    }
    await().atMost(PATIENCE).until(() -> running.get() == 4);
    gate.release(1000);
    awaitCommitted();
    assertThat(most).hasValue(4);
  }

  /** What waits for a place when the close begins is not taken, though places come free. */
  @Test
  void onCloseRunningCallsFinishAndWhatDoesNotFinishIsUnknown() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Semaphore gate = new Semaphore(0);
    Set<String> called = ConcurrentHashMap.newKeySet();
    String stuck = name("stuck");
    String ends = name("ends");
    ToolHandler handler =
        command -> {
          called.add(String.valueOf(command.operationId()));
          if (stuck.equals(command.operationId())) {
            never.await();
          }
          gate.acquire();
          return ToolOutcome.succeeded("ref", null);
        };
    concurrency = 2;
    drain = Duration.ofSeconds(3);
    ExecutorRole role = start(Map.of("pay.transfer", handler));
    stack.send(topics, Commands.execute(stuck, "{}"));
    stack.send(topics, Commands.execute(ends, "{}"));
    await().atMost(PATIENCE).until(() -> called.size() == 2);
    stack.send(topics, Commands.execute(name("waits"), "{}"));
    await().atMost(PATIENCE).until(() -> meters.get("ichido.executor.held").gauge().value() == 3);
    Thread closing = Thread.ofVirtual().start(role::close);
    await().atMost(PATIENCE).until(() -> meters.get("ichido.executor.held").gauge().value() == 2);
    gate.release(2);
    closing.join();
    role.close();
    assertThat(stack.results(topics))
        .extracting(
            OperationResult::getOperationId,
            OperationResult::getOutcome,
            OperationResult::getReason)
        .containsExactlyInAnyOrder(
            tuple(ends, SUCCEEDED, null), tuple(stuck, UNKNOWN, "DRAIN_TIMEOUT"));
    assertThat(called).containsExactlyInAnyOrder(stuck, ends);
    assertThat(stack.lag(topics, topics.prefix() + "-executor")).isEqualTo(1);
  }

  /** Another may have it, and be about to record what came of it. */
  @Test
  void onCloseNothingIsToldOfAnAttemptWhoseClaimIsNotAnswered() throws InterruptedException {
    Outage outage = new Outage(stack.pool);
    outage.holdQueries();
    ExecutorRole role = start(httpHandlers(), "g", outage.dataSource(), Clock.systemUTC());
    stack.send(topics, Commands.execute(name("asked"), Commands.note(name("asked"))));
    Thread asking = await().atMost(PATIENCE).until(outage::waiting, Objects::nonNull);
    assertThat(asking.getName()).isEqualTo("ichido-executor-dispatch");
    role.close();
    outage.letGo();
    asking.join(PATIENCE);
    assertThat(asking.isAlive()).isFalse();
    assertThat(role.failure()).isEmpty();
    assertThat(stack.results(topics)).isEmpty();
    assertThat(remote.requests()).isEmpty();
  }

  @Test
  void aThrownExceptionIsUnknownAndAnActionWithoutHandlerIsProvenNotStarted() {
    start(
        Map.of(
            "pay.transfer",
            command -> {
              throw new IllegalStateException("secret");
            }));
    stack.send(topics, Commands.execute(name("throws"), "{}"));
    OperationResult thrown = awaitResults(name("throws"), 1).getFirst();
    assertThat(thrown.getOutcome()).isEqualTo(UNKNOWN);
    assertThat(thrown.toString()).contains("HANDLER_THREW").doesNotContain("secret");
  }

  /** Reads are neither claimed nor deduplicated. */
  @Test
  @Tag("FR-16")
  void aReadIsAnsweredToItsDeliveryEachTime() {
    AtomicInteger reads = new AtomicInteger();
    start(
        Map.of(
            "pay.transfer",
            command -> ToolOutcome.succeeded(null, "read " + reads.incrementAndGet())));
    ToolCommand read = Commands.command(ToolCommand.Kind.READ, name("read"), 0, "{}", null, false);
    stack.send(topics, read);
    stack.send(topics, read);
    List<OperationResult> results = awaitResults(name("read"), 2);
    assertThat(results).extracting(OperationResult::getKind).containsOnly(ResultKind.READ);
    assertThat(results)
        .extracting(OperationResult::getBody)
        .containsExactlyInAnyOrder("read 1", "read 2");
    assertThat(results)
        .extracting(OperationResult::getDeliveryId)
        .containsOnly("d-" + name("read"));
    assertThat(results).extracting(OperationResult::getPrincipal).containsOnly("agent:a");
    assertThat(results).extracting(OperationResult::getAttempt).containsOnlyNulls();
  }

  @Test
  void whatCannotBeDecodedGoesToTheDeadLettersAndTheRestGoesOn() {
    start(httpHandlers());
    stack.sendRaw(topics, "k1/t1/global/x", new byte[] {9, 9});
    stack.sendRaw(topics, null, "not avro at all".getBytes(StandardCharsets.UTF_8));
    stack.send(
        topics, Commands.command(ToolCommand.Kind.EXECUTE, name("zero"), 0, "{}", null, false));
    // Under another key its claim would protect another operation than the one that is performed.
    stack.send(topics, "k1/t1/global/" + name("after"), Commands.execute(name("other"), "{}"));
    stack.send(topics, Commands.execute(name("after"), Commands.note(name("after"))));
    awaitResults(name("after"), 1);
    await().atMost(PATIENCE).until(() -> stack.deadLetters(topics).size() == 4);
    List<DeadLetter> letters = stack.deadLetters(topics);
    assertThat(letters)
        .extracting(DeadLetter::getCode)
        .containsExactlyInAnyOrder("UNDECODABLE", "UNDECODABLE", "COMMAND_INVALID", "KEY_MISMATCH");
    assertThat(letters).extracting(DeadLetter::getSourceTopic).containsOnly(topics.commands());
    assertThat(letters).extracting(DeadLetter::getRole).containsOnly("executor");
    assertThat(stack.results(topics, name("other"))).isEmpty();
    assertThat(remote.writes()).hasSize(1);
    awaitCommitted();
  }

  @Test
  void aLargeAnswerIsKeptAndSentAsAHandle() throws SQLException {
    String text = "x".repeat(70_000);
    start(Map.of("pay.transfer", command -> ToolOutcome.succeeded("r", text)));
    stack.send(topics, Commands.execute(name("big"), "{}"));
    OperationResult result = awaitResults(name("big"), 1).getFirst();
    assertThat(result.getBody()).isNull();
    assertThat(result.getBodyHandle().getBytes()).isEqualTo(70_000);
    assertThat(
            new ClaimStore(stack.pool, "x")
                .findBody(result.getBodyHandle().getSha256())
                .orElseThrow()
                .findText())
        .isEqualTo(text);
    // And again from the row.
    stack.send(topics, Commands.execute(name("big"), "{}"));
    assertThat(awaitResults(name("big"), 2).getLast().getBodyHandle())
        .isEqualTo(result.getBodyHandle());
  }

  @Test
  void aRemoteThatFailsAllTheTimeIsLeftAlone() {
    AtomicInteger calls = new AtomicInteger();
    start(
        Map.of(
            "pay.transfer",
            command -> {
              calls.incrementAndGet();
              return ToolOutcome.unknown("TIMEOUT");
            }));
    for (int i = 0; i < 60; i++) {
      stack.send(topics, Commands.execute(name("sick" + i), "{}"));
    }
    awaitCommitted();
    await().atMost(PATIENCE).until(() -> stack.results(topics).size() == 60);
    assertThat(calls.get()).isBetween(20, 30);
    assertThat(stack.results(topics))
        .filteredOn(r -> "CIRCUIT_OPEN".equals(r.getReason()))
        .hasSize(60 - calls.get())
        .allMatch(r -> r.getOutcome() == FAILED_RETRYABLE && r.getRetryAfterMs() == 10_000);
  }

  @Test
  void withoutItsDatabaseItWaitsAndCallsNothing() {
    Outage outage = new Outage(stack.pool);
    outage.begin();
    start(httpHandlers(), "g", outage.dataSource(), Clock.systemUTC());
    stack.send(topics, Commands.execute(name("down"), Commands.note(name("down"))));
    await()
        .atMost(PATIENCE)
        .until(() -> meters.counter("ichido.executor.trouble", "where", "claims").count() >= 2);
    assertThat(remote.requests()).isEmpty();
    outage.end();
    assertThat(awaitResults(name("down"), 1).getFirst().getOutcome()).isEqualTo(SUCCEEDED);
    assertThat(remote.book().effectsOf(name("down"))).hasSize(1);
  }

  /** It asks again and finds the row that it wrote: no call began, so there is nothing to lose. */
  @Test
  @Tag("FR-10")
  void aClaimWhoseAnswerWasLostIsNotLeftToTheLease() {
    Outage outage = new Outage(stack.pool);
    outage.loseNextAnswer();
    start(httpHandlers(), "g", outage.dataSource(), Clock.systemUTC());
    stack.send(topics, Commands.execute(name("unheard"), Commands.note(name("unheard"))));
    assertThat(awaitResults(name("unheard"), 1).getFirst().getOutcome()).isEqualTo(SUCCEEDED);
    assertThat(meters.counter("ichido.executor.trouble", "where", "claims").count()).isEqualTo(1);
    assertThat(meters.counter("ichido.executor.claims", "answer", "won").count()).isEqualTo(1);
    assertThat(remote.book().effectsOf(name("unheard"))).hasSize(1);
    assertThat(remote.writes()).hasSize(1);
  }

  /** The effect is done and can't be recorded: it is neither sent before nor repeated after. */
  @Test
  @Tag("FR-09")
  void aResultWaitsUntilItCanBeRecorded() {
    Outage outage = new Outage(stack.pool);
    ToolHandler handler =
        command -> {
          outage.begin();
          return ToolOutcome.succeeded("ref", null);
        };
    start(Map.of("pay.transfer", handler), "g", outage.dataSource(), Clock.systemUTC());
    stack.send(topics, Commands.execute(name("wait"), "{}"));
    await()
        .atMost(PATIENCE)
        .until(() -> meters.counter("ichido.executor.trouble", "where", "record").count() >= 2);
    assertThat(stack.results(topics)).isEmpty();
    assertThat(stack.lag(topics, "g")).isEqualTo(1);
    outage.end();
    assertThat(awaitResults(name("wait"), 1).getFirst().getOutcome()).isEqualTo(SUCCEEDED);
  }

  /**
   * Killed after the effect, before recording: the status read decides, and effects stay at one.
   */
  @Test
  @Tag("FR-09")
  void aCrashAfterTheEffectIsUnknownUntilTheRemoteIsAsked() throws SQLException {
    Outage outage = new Outage(stack.pool);
    ExecutorRole dying =
        start(
            Map.of(
                "pay.transfer",
                new AfterEffect(
                    java.util.Objects.requireNonNull(httpHandlers().get("pay.transfer")), outage)),
            "g",
            outage.dataSource(),
            Clock.systemUTC());
    String operation = name("crash");
    ToolCommand command = Commands.execute(operation, Commands.note(operation));
    stack.send(topics, command);
    await().atMost(PATIENCE).until(() -> remote.book().size() == 1);
    dying.close();
    assertThat(new ClaimStore(stack.pool, "x").find(command.recordKey(), 1))
        .containsInstanceOf(ClaimAnswer.Open.class);
    start(httpHandlers(), "g", stack.pool, Clock.systemUTC());
    stack.send(topics, Commands.reconcile(operation, 1, true));
    OperationResult report = awaitResults(operation, 1).getFirst();
    assertThat(report.getOutcome()).isEqualTo(COMMITTED);
    assertThat(remote.book().effectsOf(operation)).hasSize(1);
    assertThat(remote.writes()).hasSize(1);
  }

  /** An empty budget parks what is due: nothing is sent meanwhile, and nothing is dropped. */
  @Test
  void anEmptyRetryBudgetParksAndNeverDrops() {
    List<String> operations =
        List.of(name("operation-park-1"), name("operation-park-2"), name("operation-park-3"));
    try (DecisionDriver driver = driver("{\"tokens\":2,\"refill\":\"1/h\"}")) {
      start(httpHandlers(), driver.clock());
      for (String operation : operations) {
        remote.failNext(operation, DECLARED_SAFE, DECLARED_SAFE);
        driver.submit(operation, "1", "pay.transfer", Commands.note(operation));
      }
      Set<String> keys = keys(operations);
      driver.run(keys, Duration.ofMinutes(30), driver::isAnswered);
      // Three first attempts, which are free, and the two retries that the budget holds.
      assertThat(remote.writes()).hasSize(5);
      assertThat(keys.stream().map(key -> driver.state(key).name()))
          .containsOnly(StateName.FAILED_RETRYABLE);
      assertThat(operations.stream().flatMap(o -> driver.journal(o).stream()))
          .anyMatch(
              e -> e.getVerdict().equals("RETRY_LATER") && "BUDGET_EMPTY".equals(e.getCode()));
      driver.run(keys, Duration.ofHours(5), driver::isAnswered);
      assertThat(keys.stream().map(key -> driver.state(key).name()))
          .containsOnly(StateName.SUCCEEDED);
    }
    assertThat(remote.writes()).hasSize(9);
    for (String operation : operations) {
      assertThat(remote.book().effectsOf(operation)).hasSize(1);
    }
  }

  /**
   * Deliveries, attempts and remote calls, as the roles count them and as the remote does; and the
   * remote's wish to be left alone for 7 seconds is kept.
   */
  @Test
  @Tag("FR-12")
  @Tag("FR-14")
  void amplificationIsCountedFromTheIntentToTheRemote() {
    String clean = name("operation-clean");
    String lost = name("operation-lost-answer");
    String refused = name("operation-refused-twice");
    try (DecisionDriver driver = driver("{\"tokens\":10,\"refill\":\"1/s\"}")) {
      start(httpHandlers(), driver.clock());
      remote.failNext(lost, ACCEPT_THEN_TIME_OUT);
      remote.failNext(refused, DECLARED_SAFE, DECLARED_SAFE);
      for (String delivery : List.of("1", "2", "3")) {
        driver.submit(clean, delivery, "pay.transfer", Commands.note(clean));
      }
      driver.submit(lost, "1", "pay.transfer", Commands.note(lost));
      driver.submit(lost, "2", "pay.transfer", Commands.note(lost));
      driver.submit(refused, "1", "pay.transfer", Commands.note(refused));
      driver.run(keys(List.of(clean, lost, refused)), Duration.ofHours(1), driver::isAnswered);

      assertThat(driver.verdicts("CLAIMED") + driver.verdicts("DUPLICATE_IN_PROGRESS"))
          .as("deliveries")
          .isEqualTo(6);
      assertThat(meters.counter("ichido.executor.attempts", "action", "pay.transfer").count())
          .as("attempts")
          .isEqualTo(5);
      assertThat(remoteCalls("execute"))
          .as("writes")
          .isEqualTo(5)
          .isEqualTo(remote.writes().size());
      assertThat(remoteCalls("reconcile"))
          .as("status reads")
          .isEqualTo(1)
          .isEqualTo(remote.requests().size() - remote.writes().size());
      assertThat(driver.commands(clean)).hasSize(1);
      assertThat(driver.commands(lost)).hasSize(2);
      assertThat(driver.commands(refused)).hasSize(3);
      List<JournalEntry> journal = driver.journal(refused);
      for (int i = 1; i < journal.size(); i++) {
        if (journal.get(i).getVerdict().equals("RECLAIMED")) {
          assertThat(Duration.between(journal.get(i - 1).getAt(), journal.get(i).getAt()))
              .isGreaterThanOrEqualTo(Duration.ofSeconds(7));
        }
      }
    }
    assertThat(remote.book().size()).isEqualTo(3);
  }

  private double remoteCalls(String kind) {
    return meters.counter("ichido.executor.remote.calls", "kind", kind, "remote", "ledger").count();
  }

  /** The whole of FR-10: a crashed between its claim and its result, b answered, c never sent. */
  @Test
  @Tag("FR-10")
  void aMissingResultIsNotTakenForNoExecution() throws SQLException {
    Map<String, Integer> calls = new ConcurrentHashMap<>();
    ToolHandler handler =
        command -> {
          calls.merge(String.valueOf(command.operationId()), 1, Integer::sum);
          return ToolOutcome.succeeded("ref-" + command.operationId(), "done");
        };
    String a = name("operation-sequence-a");
    String b = name("operation-sequence-b");
    String c = name("operation-sequence-c");
    new ClaimStore(stack.pool, "executor/an-earlier-life")
        .take(
            List.of(
                new ClaimRequest(
                    DecisionDriver.recordKey("global", a), 1, "cmd", "pay.transfer", null, null)),
            Instant.now());
    try (DecisionDriver driver = driver("{\"tokens\":10,\"refill\":\"1/s\"}")) {
      start(Map.of("pay.transfer", handler), driver.clock());
      driver.submit(a, "1", "pay.transfer", "{}");
      driver.submit(b, "1", "pay.transfer", "{}");
      driver.run(
          keys(List.of(a, b)),
          Duration.ofMinutes(10),
          () -> stack.lag(topics, topics.prefix() + "-executor") == 0);
      assertThat(driver.state(DecisionDriver.recordKey("global", a)).name())
          .isEqualTo(StateName.UNKNOWN_RECONCILIATION);
      driver.submit(b, "2", "pay.transfer", "{}");
      assertThat(driver.journal(b).getLast().getVerdict()).isEqualTo("REPLAYED");
      driver.submit(a, "2", "pay.transfer", "{}");
      assertThat(driver.journal(a).getLast().getVerdict()).isEqualTo("HELD_UNKNOWN");
      driver.submit(c, "1", "pay.transfer", "{}");
      driver.run(
          keys(List.of(c)),
          Duration.ofMinutes(1),
          () -> stack.lag(topics, topics.prefix() + "-executor") == 0);
      assertThat(driver.state(DecisionDriver.recordKey("global", c)).name())
          .isEqualTo(StateName.SUCCEEDED);
    }
    assertThat(calls).isEqualTo(Map.of(b, 1, c, 1));
  }

  /** The whole of FR-01 and FR-13: the lease ends while the call runs, and its result is late. */
  @Test
  @Tag("FR-01")
  @Tag("FR-13")
  void aLeaseThatIsShorterThanTheWorkBringsNoSecondCall() throws Exception {
    CountDownLatch called = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger effects = new AtomicInteger();
    ToolHandler slow =
        command -> {
          called.countDown();
          goOn.await();
          effects.incrementAndGet();
          return ToolOutcome.succeeded("ref-1", "done");
        };
    String operation = name("operation-short-lease");
    Set<String> key = keys(List.of(operation));
    try (DecisionDriver driver = driver("{\"tokens\":10,\"refill\":\"1/s\"}")) {
      start(Map.of("pay.transfer", slow), driver.clock());
      driver.submit(operation, "1", "pay.transfer", "{}");
      called.await();
      driver.run(key, Duration.ofMinutes(2), () -> true);
      assertThat(driver.journal(operation))
          .extracting(JournalEntry::getVerdict)
          .contains("LEASE_EXPIRED");
      driver.submit(operation, "2", "pay.transfer", "{}");
      assertThat(driver.journal(operation).getLast().getVerdict()).isEqualTo("HELD_UNKNOWN");
      goOn.countDown();
      driver.run(key, Duration.ofHours(1), driver::isAnswered);
      assertThat(driver.journal(operation).getLast().getStateAfter()).isEqualTo("SUCCEEDED");
      driver.submit(operation, "3", "pay.transfer", "{}");
      assertThat(driver.journal(operation).getLast().getVerdict()).isEqualTo("REPLAYED");
      assertThat(
              driver.commands(operation).stream().filter(c -> c.getKind() == CommandKind.EXECUTE))
          .hasSize(1);
    }
    assertThat(effects).hasValue(1);
  }

  private DecisionDriver driver(String budget) {
    try {
      return new DecisionDriver(
          stack,
          topics,
          SharedClock.at(folder.resolve(topics.prefix() + ".clock")),
          new ObjectMapper()
              .readTree(
                  """
                  {"pay.transfer": {"retry_horizon": "12h", "lease": "60s", "retry":
                    {"max_attempts": 5, "initial": "1s", "max": "1s", "budget": %s}}}
                  """
                      .formatted(budget)));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Set<String> keys(List<String> operations) {
    return operations.stream()
        .map(operation -> DecisionDriver.recordKey("global", operation))
        .collect(Collectors.toSet());
  }

  private ExecutorRole start(Map<String, ToolHandler> handlers, Clock clock) {
    return start(handlers, topics.prefix() + "-executor", stack.pool, clock);
  }

  private record AfterEffect(ToolHandler real, Outage outage) implements ToolHandler {
    @Override
    public ToolOutcome execute(ToolCommand command) throws Exception {
      ToolOutcome outcome = real.execute(command);
      outage.begin();
      return outcome;
    }
  }

  private String name(String name) {
    return topics.prefix() + "-" + name;
  }

  private Map<String, ToolHandler> httpHandlers() {
    String actions =
        """
        {"pay.transfer": {"effect": "write", "http": {
          "remote": "ledger",
          "url": "%1$s/transfers",
          "headers": {"Authorization": "%2$s"},
          "timeouts": {"connect": "2s", "first_byte": "2s", "total": "2500ms"},
          "answers": {"expected": ["201"], "terminal": ["422"],
            "rules": [{"status": ["503"], "path":"$.error.code", "in": ["not_accepted"],
                       "means": "NOT_ACCEPTED", "reason": "NOT_ACCEPTED"}]},
          "response_limit": 1048576,
          "reference":"$.id",
          "status": {"url": "%1$s/transfers?note={arguments.note}", "found":"$.data[0]",
                     "empty_is_absent": true, "reference":"$.data[0].id", "body":"$.data[0]"}
        }}}
        """
            .formatted(remote.url(), SECRET);
    try {
      HttpRemotes remotes =
          HttpRemotes.of(
              ExecutorContracts.parse(new ObjectMapper().readTree(actions)), Clock.systemUTC());
      open.addFirst(remotes);
      return remotes.handlers();
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private ExecutorRole start(Map<String, ToolHandler> handlers) {
    return start(handlers, topics.prefix() + "-executor", stack.pool, Clock.systemUTC());
  }

  private ExecutorRole start(
      Map<String, ToolHandler> handlers,
      String group,
      javax.sql.DataSource dataSource,
      Clock clock) {
    ExecutorConfig config =
        new ExecutorConfig(
            null,
            stack.kafka(),
            stack.registrySettings(),
            topics.prefix(),
            group,
            null,
            concurrency,
            drain,
            null,
            null,
            null,
            null,
            claimRetention,
            false);
    ExecutorRole role = new ExecutorRole(config, dataSource, handlers, meters, clock);
    role.start();
    open.add(role);
    return role;
  }

  private List<OperationResult> awaitResults(String operation, int count) {
    await()
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(50))
        .until(() -> stack.results(topics, operation).size() >= count);
    List<OperationResult> results = stack.results(topics, operation);
    assertThat(results).hasSize(count);
    return results;
  }

  private Map<String, List<OperationResult>> awaitAll(int count) {
    await().atMost(PATIENCE).until(() -> stack.results(topics).size() >= count);
    return byOperation();
  }

  private Map<String, List<OperationResult>> byOperation() {
    return stack.results(topics).stream()
        .collect(Collectors.groupingBy(result -> String.valueOf(result.getOperationId())));
  }

  private void awaitCommitted() {
    await().atMost(PATIENCE).until(() -> stack.lag(topics, topics.prefix() + "-executor") == 0);
  }
}
