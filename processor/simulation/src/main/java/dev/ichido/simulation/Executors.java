package dev.ichido.simulation;

import dev.ichido.executor.AttemptProtocol;
import dev.ichido.executor.AttemptProtocol.Next;
import dev.ichido.executor.OffsetTracker;
import dev.ichido.executor.Report;
import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.claim.ClaimAnswer;
import dev.ichido.executor.claim.ClaimRequest;
import dev.ichido.simulation.Remote.Answered;
import dev.ichido.simulation.Remote.Request;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Two executors of one group over one partition. Between every two steps of theirs anything may
 * happen: that is the difference to the shipped one, whose rules they ask.
 */
final class Executors {
  private static final TopicPartition PARTITION = new TopicPartition("commands", 0);

  private final World world;
  private final Executor[] executors = {new Executor(0), new Executor(1)};
  private final ClaimTable claims = new ClaimTable();
  private int owner = -1;
  private long committed;

  /** A command on the topic. */
  record Sent(int operation, ToolCommand command) {}

  /**
   * A report on the topic.
   *
   * @param sentAt what the processors' clocks showed when it came there
   */
  record Told(int operation, ToolCommand command, Report report, List<Instant> sentAt)
      implements Read {}

  private enum Stage {
    NEW,
    CLAIMED,
    CHECKED,
    CALLING,
    ASKING,
    TO_RECORD,
    TO_REPORT
  }

  private static final class Work {
    final int offset;
    final Sent sent;
    Stage stage = Stage.NEW;
    @Nullable ClaimAnswer claim;
    @Nullable Request request;
    @Nullable Report report;
    long claimAskedAt = -1;
    long checkedAt;

    Work(int offset, Sent sent) {
      this.offset = offset;
      this.sent = sent;
    }
  }

  /** A call that was given up on and may still be answered. */
  private record GivenUp(Work work, Request request) {}

  private record Late(Work work, Report report) {}

  private static final class Executor {
    final int number;
    int life;
    boolean member;
    long position;
    OffsetTracker offsets = new OffsetTracker();
    final List<Work> works = new ArrayList<>();
    final List<GivenUp> givenUp = new ArrayList<>();
    final List<Late> late = new ArrayList<>();

    Executor(int number) {
      this.number = number;
    }

    String owner() {
      return number + "/" + life;
    }

    @Nullable Work find(int offset, Stage stage) {
      for (Work work : works) {
        if (work.offset == offset && work.stage == stage) {
          return work;
        }
      }
      return null;
    }

    /** The order of an operation's commands is kept: the next one starts when this one is done. */
    boolean isFirst(Work work) {
      for (Work other : works) {
        if (other.sent.operation() == work.sent.operation()) {
          return other == work;
        }
      }
      return false;
    }
  }

  Executors(World world) {
    this.world = world;
  }

  /** Whether a call is between its last check and its sending. */
  boolean atTheLastMetre() {
    for (Executor executor : executors) {
      for (Work work : executor.works) {
        if (work.stage == Stage.CHECKED) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether nobody takes the commands. */
  boolean isOrphaned() {
    return owner < 0 || !world.isAwake(Action.role(2, owner));
  }

  /** Whether an attempt of the operation may still be called. */
  boolean isUnderWay(int operation) {
    for (Executor executor : executors) {
      for (Work work : executor.works) {
        if (work.sent.operation() == operation
            && work.sent.command().kind() == ToolCommand.Kind.EXECUTE
            && work.stage.compareTo(Stage.CALLING) <= 0) {
          return true;
        }
      }
    }
    return false;
  }

  /** What the claims say of an attempt. */
  @Nullable ClaimAnswer claim(int operation, int attempt) {
    return claims.find(world.recordKey(operation), attempt);
  }

  void offer(List<Action> actions) {
    for (int i = 0; i < executors.length; i++) {
      world.offer(actions, Action.Kind.EXECUTOR_JOINS, i, 0);
      world.offer(actions, Action.Kind.EXECUTOR_POLLS, i, 0);
      world.offer(actions, Action.Kind.EXECUTOR_COMMITS, i, 0);
      world.offer(actions, Action.Kind.EXECUTOR_NOTICES, i, 0);
      world.offer(actions, Action.Kind.EXECUTOR_CRASHES, i, 0);
      for (Work work : executors[i].works) {
        world.offer(actions, Action.Kind.EXECUTOR_CLAIMS, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_CLAIMS_UNSURE, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_GOES_ON, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_CALLS, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_TIMES_OUT, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_GIVES_UP, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_ASKS, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_ASKS_IN_VAIN, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_RECORDS, i, work.offset);
        world.offer(actions, Action.Kind.EXECUTOR_REPORTS, i, work.offset);
      }
      for (Late late : executors[i].late) {
        world.offer(actions, Action.Kind.EXECUTOR_REPORTS_LATE, i, late.work().offset);
      }
    }
  }

  @Nullable Runnable way(Action action) {
    Executor e = executors[action.who()];
    if (action.kind() == Action.Kind.EXECUTOR_CRASHES) {
      return () -> crash(e);
    }
    if (!world.isAwake(Action.role(2, e.number))) {
      return null;
    }
    boolean owns = owner == e.number;
    int offset = action.what();
    return switch (action.kind()) {
      case EXECUTOR_JOINS -> !owns ? () -> join(e) : null;
      case EXECUTOR_POLLS -> owns && e.position < world.commands.size() ? () -> poll(e) : null;
      case EXECUTOR_COMMITS -> owns ? () -> commit(e) : null;
      case EXECUTOR_NOTICES -> e.member && !owns ? () -> forget(e) : null;
      case EXECUTOR_CLAIMS -> on(e, offset, Stage.NEW, work -> claim(e, work, true));
      case EXECUTOR_CLAIMS_UNSURE -> on(e, offset, Stage.NEW, work -> claim(e, work, false));
      case EXECUTOR_GOES_ON -> on(e, offset, Stage.CLAIMED, work -> goOn(e, work));
      case EXECUTOR_CALLS -> on(e, offset, Stage.CHECKED, work -> call(e, work));
      case EXECUTOR_TIMES_OUT ->
          on(
              e,
              offset,
              Stage.CALLING,
              work -> report(e, work, world.protocol.executor().unanswered(), null));
      case EXECUTOR_GIVES_UP -> on(e, offset, Stage.CALLING, work -> giveUp(e, work));
      case EXECUTOR_ASKS ->
          on(
              e,
              offset,
              Stage.ASKING,
              work -> tell(e, work, world.remote.status(work.sent.operation())));
      case EXECUTOR_ASKS_IN_VAIN ->
          on(e, offset, Stage.ASKING, work -> tell(e, work, new Answered(Finding.UNKNOWN, null)));
      case EXECUTOR_RECORDS -> on(e, offset, Stage.TO_RECORD, this::record);
      case EXECUTOR_REPORTS -> on(e, offset, Stage.TO_REPORT, work -> send(e, work));
      case EXECUTOR_REPORTS_LATE -> {
        Late late =
            e.late.stream().filter(it -> it.work().offset == offset).findFirst().orElse(null);
        yield late == null ? null : () -> sendLate(e, late);
      }
      default -> null;
    };
  }

  private interface Step {
    void take(Work work);
  }

  private static @Nullable Runnable on(Executor e, int offset, Stage stage, Step step) {
    Work work = e.find(offset, stage);
    return work == null || !e.isFirst(work) ? null : () -> step.take(work);
  }

  /** Whether no answer to the call of this command can come any more. */
  boolean isUnanswerable(int executor, int offset) {
    Work work = executors[executor].find(offset, Stage.CALLING);
    return work != null && work.request != null && !world.remote.isOpen(work.request);
  }

  private void join(Executor e) {
    if (owner >= 0 && world.isAwake(Action.role(2, owner))) {
      commit(executors[owner]);
      forget(executors[owner]);
    }
    owner = e.number;
    e.member = true;
    e.offsets = new OffsetTracker();
    e.position = committed;
  }

  /** What runs goes on under its claim and reports; the next owner finds the claim. */
  private void forget(Executor e) {
    e.works.removeIf(work -> work.stage == Stage.NEW);
    e.offsets = new OffsetTracker();
    e.member = false;
  }

  private void poll(Executor e) {
    int offset = (int) e.position++;
    e.offsets.begin(PARTITION, offset);
    e.works.add(new Work(offset, world.commands.get(offset)));
  }

  private void commit(Executor e) {
    OffsetAndMetadata position = e.offsets.takeCommittable().get(PARTITION);
    if (position != null) {
      committed = position.offset();
    }
  }

  private void crash(Executor e) {
    e.life++;
    e.works.clear();
    e.givenUp.clear();
    e.late.clear();
    forget(e);
    if (owner == e.number) {
      owner = -1;
    }
  }

  private Instant clock(Executor e) {
    return world.instant(Action.role(2, e.number));
  }

  private void claim(Executor e, Work work, boolean answered) {
    ToolCommand command = work.sent.command();
    ClaimRequest request = world.protocol.executor().claim(command, clock(e)).orElse(null);
    if (request != null) {
      boolean askedBefore = work.claimAskedAt >= 0;
      ClaimAnswer answer = claims.take(request, e.owner());
      if (!askedBefore) {
        work.claimAskedAt = world.now;
      }
      if (!answered) {
        return;
      }
      if (answer instanceof ClaimAnswer.Won) {
        work.claimAskedAt = world.now;
      }
      work.claim =
          world.protocol.executor().granted(command, request, answer, e.owner(), askedBefore);
    }
    work.stage = Stage.CLAIMED;
  }

  private void goOn(Executor e, Work work) {
    ToolCommand command = work.sent.command();
    if (command.kind() == ToolCommand.Kind.READ) {
      work.stage = Stage.ASKING;
      return;
    }
    ClaimAnswer claim = work.claim;
    if (command.kind() == ToolCommand.Kind.RECONCILE && !(claim instanceof ClaimAnswer.Recorded)) {
      claim = claims.find(command.recordKey(), command.attempt());
    }
    switch (world.protocol.executor().next(command, claim)) {
      case Next.Tell it -> {
        work.report = it.report();
        work.stage = Stage.TO_REPORT;
      }
      case Next.Nothing it -> done(e, work);
      case Next.Ask it -> work.stage = Stage.ASKING;
      case Next.Call it -> {
        Duration sinceClaim = Duration.ofMillis(world.now - work.claimAskedAt);
        if (world.protocol.executor().mayStart(command, clock(e), sinceClaim)) {
          work.stage = Stage.CHECKED;
          work.checkedAt = world.now;
        } else {
          report(e, work, Finding.FAILED_RETRYABLE, null);
        }
      }
    }
  }

  private void call(Executor e, Work work) {
    work.request =
        world.remote.call(
            work.sent.operation(),
            work.sent.command(),
            e.number,
            e.life,
            work.offset,
            work.checkedAt);
    work.stage = Stage.CALLING;
  }

  void answered(Request request, Answered answered) {
    Executor e = executors[request.executor];
    if (e.life != request.life) {
      return;
    }
    Work work = e.find(request.work, Stage.CALLING);
    if (work != null && work.request == request) {
      report(e, work, answered.finding(), answered.reference());
      return;
    }
    for (GivenUp it : e.givenUp) {
      if (it.request() == request) {
        AttemptProtocol.late(
                report(e, it.work(), Report.Kind.ATTEMPT, answered.finding(), answered.reference()))
            .ifPresent(report -> e.late.add(new Late(it.work(), report)));
      }
    }
    e.givenUp.removeIf(it -> it.request() == request);
  }

  private void giveUp(Executor e, Work work) {
    if (work.request != null) {
      e.givenUp.add(new GivenUp(work, work.request));
    }
    report(e, work, Finding.UNKNOWN, null);
  }

  private void report(Executor e, Work work, Finding finding, @Nullable String reference) {
    work.report = report(e, work, Report.Kind.ATTEMPT, finding, reference);
    work.stage = Stage.TO_RECORD;
  }

  private void tell(Executor e, Work work, Answered answered) {
    work.report =
        work.sent.command().kind() == ToolCommand.Kind.READ
            ? report(e, work, Report.Kind.READ, Finding.SUCCEEDED, answered.reference())
            : report(e, work, Report.Kind.RECONCILE, answered.finding(), answered.reference());
    work.stage = Stage.TO_REPORT;
  }

  private Report report(
      Executor e, Work work, Report.Kind kind, Finding finding, @Nullable String reference) {
    ToolCommand command = work.sent.command();
    return new Report(
        kind,
        finding,
        AttemptProtocol.resultId(command),
        reference,
        reference == null ? null : command.recordKey(),
        null,
        0,
        null,
        null,
        null,
        1,
        null,
        clock(e));
  }

  private void record(Work work) {
    ToolCommand command = work.sent.command();
    if (work.report != null) {
      claims.record(command.recordKey(), command.attempt(), work.report);
    }
    work.stage = Stage.TO_REPORT;
  }

  private void send(Executor e, Work work) {
    if (work.report != null) {
      world.tell(work.sent.operation(), work.sent.command(), work.report);
    }
    done(e, work);
  }

  private void sendLate(Executor e, Late late) {
    e.late.remove(late);
    Sent sent = late.work().sent;
    world.tell(sent.operation(), sent.command(), late.report());
  }

  private static void done(Executor e, Work work) {
    e.works.remove(work);
    e.offsets.complete(PARTITION, work.offset);
  }
}
