package dev.ichido.simulation;

import dev.ichido.decision.ActionPolicy.Budget;
import dev.ichido.decision.Answer;
import dev.ichido.decision.Decision;
import dev.ichido.decision.Effect;
import dev.ichido.decision.Effect.AskOriginal;
import dev.ichido.decision.Effect.ChargeRetryBudget;
import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.PromiseRetryToken;
import dev.ichido.decision.Effect.ReleaseOriginal;
import dev.ichido.decision.Effect.RequestReconciliation;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.Effect.TellCompensation;
import dev.ichido.decision.OperationEvent;
import dev.ichido.decision.OperationEvent.AttemptOutcome;
import dev.ichido.decision.OperationEvent.CancelReceived;
import dev.ichido.decision.OperationEvent.CompensationAsked;
import dev.ichido.decision.OperationEvent.CompensationReleased;
import dev.ichido.decision.OperationEvent.DeadlineReached;
import dev.ichido.decision.OperationEvent.Found;
import dev.ichido.decision.OperationEvent.IntentReceived;
import dev.ichido.decision.OperationEvent.ReadReported;
import dev.ichido.decision.OperationEvent.ReconciliationReported;
import dev.ichido.decision.OperationEvent.ResolutionReceived;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.decision.OperationState.Open;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OriginalStanding;
import dev.ichido.decision.RetryBudget;
import dev.ichido.decision.Transition;
import dev.ichido.decision.Verdict;
import dev.ichido.executor.Report;
import dev.ichido.executor.ToolCommand;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.simulation.Action.Written;
import dev.ichido.simulation.Beside.Step;
import dev.ichido.simulation.Executors.Sent;
import dev.ichido.simulation.Executors.Told;
import dev.ichido.simulation.Mail.FromMeanings;
import dev.ichido.simulation.Mail.FromOriginal;
import dev.ichido.simulation.Mail.News;
import dev.ichido.simulation.Mail.Standing;
import dev.ichido.simulation.Mail.ToMeanings;
import dev.ichido.simulation.Mail.ToOriginal;
import dev.ichido.simulation.Person.Word;
import dev.ichido.simulation.Protocol.Guarantee;
import dev.ichido.simulation.Relays.Row;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Two processors over one partition, of which one has the task; the other may not know yet that it
 * lost it. What they do with a record is the shape of the shipped one: state, event, decide, write,
 * put.
 */
final class Processors {
  private static final Principal OWNER = new Principal("agent:owner");
  private static final Principal OTHER = new Principal("agent:other");
  static final String RESOLVER = "person:ops";
  static final String EVIDENCE = "seen in the book";
  private static final int OUTPUTS = 4;

  private final World world;
  private final Processor[] processors = {new Processor(0), new Processor(1)};
  private final boolean atomic;

  /** What the broker holds: the changelogs and the positions. */
  private Task kept = Task.EMPTY;

  /** The task is the processor's that took it over last. */
  private int generation;

  /**
   * One decision that was made on an operation.
   *
   * @param unheard it calls a lease over although a report that was sent before is unread
   */
  record Made(int operation, OperationEvent event, Decision decision, boolean unheard) {}

  private record Put(int place, OperationState state) {}

  private record Reply(int operation, SendReply reply) {}

  /** All that a task goes on from. */
  private record Task(
      List<OperationState> states,
      Map<String, Bucket> buckets,
      Meanings meanings,
      int intents,
      int results,
      List<Integer> mail) {
    static final Task EMPTY =
        new Task(
            Collections.nCopies(World.OPERATIONS, Absent.NOTHING),
            Map.of(),
            new Meanings(),
            0,
            0,
            Collections.nCopies(Mail.TOPICS, 0));

    Task with(int place, OperationState state) {
      List<OperationState> next = new ArrayList<>(states);
      next.set(place, state);
      return new Task(next, buckets, meanings, intents, results, mail);
    }
  }

  /** What is left of a retry budget. */
  private record Bucket(long tokens, long since, long promised) {
    Bucket at(long now, Budget budget) {
      long every = budget.refillPeriod().toMillis() / budget.refillTokens();
      long came = Math.max(0, now - since) / every;
      return tokens + came >= budget.tokens()
          ? new Bucket(budget.tokens(), now, promised)
          : new Bucket(tokens + came, since + came * every, promised);
    }
  }

  private static final class Processor {
    final int number;
    boolean running;
    int generation;
    List<OperationState> states = List.of();
    Map<String, Bucket> buckets = Map.of();
    Meanings meanings = new Meanings();
    int intents;
    int results;
    List<Integer> mail = List.of();
    Instant latest = Instant.MIN;
    Instant heardUntil = Instant.MIN;
    boolean dirty;

    final List<Made> made = new ArrayList<>();
    final Deque<Put> changelog = new ArrayDeque<>();
    final Deque<Sent> commands = new ArrayDeque<>();
    final Deque<Reply> replies = new ArrayDeque<>();
    final Deque<Mail> posted = new ArrayDeque<>();

    Processor(int number) {
      this.number = number;
    }

    void load(Task task) {
      states = new ArrayList<>(task.states());
      buckets = new HashMap<>(task.buckets());
      meanings = task.meanings().copy();
      seek(task);
      drop();
    }

    void seek(Task task) {
      intents = task.intents();
      results = task.results();
      mail = new ArrayList<>(task.mail());
    }

    void drop() {
      made.clear();
      changelog.clear();
      commands.clear();
      replies.clear();
      posted.clear();
      dirty = false;
    }

    Deque<?> output(int number) {
      return switch (number) {
        case 0 -> changelog;
        case 1 -> commands;
        case 2 -> replies;
        default -> posted;
      };
    }
  }

  Processors(World world) {
    this.world = world;
    this.atomic = world.protocol.guarantee() == Guarantee.EXACTLY_ONCE;
  }

  /** The operation as it goes on from here. */
  OperationState state(int operation) {
    for (Processor p : processors) {
      if (!atomic && p.running && p.generation == generation) {
        return p.states.get(world.protocol.ledger().applyAsInt(operation));
      }
    }
    return kept.states().get(world.protocol.ledger().applyAsInt(operation));
  }

  void offer(List<Action> actions) {
    for (int i = 0; i < processors.length; i++) {
      world.offer(actions, Action.Kind.PROCESSOR_STARTS, i, 0);
      world.offer(actions, Action.Kind.PROCESSOR_TAKES_INTENT, i, 0);
      world.offer(actions, Action.Kind.PROCESSOR_TAKES_RESULT, i, 0);
      for (int topic = 0; topic < Mail.TOPICS; topic++) {
        world.offer(actions, Action.Kind.PROCESSOR_TAKES_MAIL, i, topic);
      }
      world.offer(actions, Action.Kind.PROCESSOR_SWEEPS, i, 0);
      world.offer(actions, Action.Kind.PROCESSOR_COMMITS, i, 0);
      world.offer(actions, Action.Kind.PROCESSOR_ABORTS, i, 0);
      world.offer(actions, Action.Kind.PROCESSOR_CRASHES, i, 0);
      if (!atomic) {
        world.offer(actions, Action.Kind.PROCESSOR_CRASHES_ON_DISK, i, 0);
        for (int output = 0; output < OUTPUTS; output++) {
          world.offer(actions, Action.Kind.PROCESSOR_FLUSHES, i, output);
        }
      }
    }
  }

  @Nullable Runnable way(Action action) {
    Processor p = processors[action.who()];
    Processor other = processors[1 - p.number];
    if (action.kind() == Action.Kind.PROCESSOR_CRASHES) {
      return p.running ? () -> crash(p) : null;
    }
    if (!isAwake(p)) {
      return null;
    }
    return switch (action.kind()) {
      case PROCESSOR_STARTS ->
          !p.running && (!other.running || !isAwake(other) || other.generation < generation)
              ? () -> start(p)
              : null;
      case PROCESSOR_TAKES_INTENT ->
          p.running && p.intents < world.intents.size() ? () -> takeIntent(p) : null;
      case PROCESSOR_TAKES_RESULT ->
          p.running && p.results < world.results.size() ? () -> takeResult(p) : null;
      case PROCESSOR_TAKES_MAIL ->
          p.running && p.mail.get(action.what()) < world.mail.get(action.what()).size()
              ? () -> takeMail(p, action.what())
              : null;
      case PROCESSOR_SWEEPS -> {
        int due = p.running ? due(p) : -1;
        yield due < 0 ? null : () -> sweep(p, due);
      }
      case PROCESSOR_COMMITS -> p.running && p.dirty ? () -> commit(p) : null;
      case PROCESSOR_ABORTS -> p.running && p.dirty ? () -> crash(p) : null;
      case PROCESSOR_CRASHES_ON_DISK -> p.running && p.dirty ? () -> restartOnDisk(p) : null;
      case PROCESSOR_FLUSHES ->
          p.running && !p.output(action.what()).isEmpty() ? () -> flush(p, action.what()) : null;
      default -> null;
    };
  }

  private boolean isAwake(Processor p) {
    return world.isAwake(Action.role(1, p.number));
  }

  private void start(Processor p) {
    p.running = true;
    p.generation = ++generation;
    p.latest = world.instant(Action.role(1, p.number));
    p.heardUntil = Instant.MIN;
    p.load(kept);
    world.beside.starts(p.number);
  }

  private void crash(Processor p) {
    p.running = false;
    p.drop();
    world.beside.stops(p.number);
  }

  /** The local store has what the changelog may lack. */
  private void restartOnDisk(Processor p) {
    p.drop();
    if (p.generation == generation) {
      p.seek(kept);
    } else {
      p.running = false;
    }
  }

  private Instant now(Processor p) {
    p.latest = clock(p);
    return p.latest;
  }

  /** It never goes back while the processor runs. */
  private Instant clock(Processor p) {
    Instant shown = world.instant(Action.role(1, p.number));
    return shown.isAfter(p.latest) ? shown : p.latest;
  }

  /** What the clocks show. */
  List<Instant> clocks() {
    return List.of(clock(processors[0]), clock(processors[1]));
  }

  /** Everything that came to the topic until then is read, and committed as read. */
  private Instant heardUntil(Processor p, Instant now) {
    Instant heard =
        unread()
            .map(it -> it.sentAt().get(p.number).minusMillis(1))
            .min(Comparator.naturalOrder())
            .orElse(now);
    Instant latest = heard.isAfter(p.heardUntil) ? heard : p.heardUntil;
    return latest.isBefore(now) ? latest : now;
  }

  private Stream<Told> unread() {
    return world.results.subList(kept.results(), world.results.size()).stream();
  }

  /** Whether a report on the attempt lies unread that came before the end of its lease. */
  private boolean isUnheard(Processor p, int operation, Transition transition) {
    return transition.verdict() == Verdict.LEASE_EXPIRED
        && transition.before() instanceof InProgress s
        && unread()
            .anyMatch(
                it ->
                    it.operation() == operation
                        && it.command().kind() == ToolCommand.Kind.EXECUTE
                        && it.command().attempt() == s.attempt()
                        && it.sentAt().get(p.number).isBefore(s.leaseUntil()));
  }

  private void takeIntent(Processor p) {
    Row row = world.intents.get(p.intents++);
    p.dirty = true;
    Word word = row.word();
    if (word != null) {
      decide(
          p,
          row.operation(),
          new ResolutionReceived(
              world.key(row.operation()),
              now(p),
              row.deliveryId(),
              word.attempt(),
              word.as(),
              RESOLVER,
              EVIDENCE,
              true,
              Answer.of(
                  word.reference(),
                  word.reference() == null ? null : world.recordKey(row.operation()))),
          row,
          row);
    } else if (world.profile.holdsSuspects()
        && row.written() != Written.CANCEL
        && row.written() != Written.READ) {
      passOn(p, row, new ToMeanings(row, world.fingerprint(row)));
    } else {
      take(p, row, row, null, null);
    }
  }

  static Principal principal(Row row) {
    return row.written() == Written.OTHER_PRINCIPAL ? OTHER : OWNER;
  }

  private void takeMail(Processor p, int topic) {
    Mail mail = world.mail.get(topic).get(p.mail.get(topic));
    p.mail.set(topic, p.mail.get(topic) + 1);
    p.dirty = true;
    switch (mail) {
      case ToOriginal it -> {
        OperationKey original = world.key(0);
        String by = world.key(it.by()).operationId();
        Row row = it.row();
        OperationEvent event =
            row == null
                ? new CompensationReleased(original, now(p), by)
                : new CompensationAsked(original, now(p), by, row.deliveryId(), principal(row));
        decide(p, 0, event, mail, row);
      }
      case FromOriginal it -> take(p, mail, it.row(), it.standing(), it.twin());
      case ToMeanings it -> {
        Instant at = now(p);
        int operation = it.row().operation();
        String tenant = world.key(operation).tenant();
        int twin =
            p.meanings.findTwin(
                operation, tenant, it.meaning(), world.profile.policy().remintWindow(), at);
        if (twin < 0) {
          p.meanings.keepPlace(operation, tenant, it.meaning());
        }
        passOn(p, mail, new FromMeanings(it.row(), twin));
      }
      case News it -> {
        p.meanings.learn(
            it.operation(),
            world.key(it.operation()).tenant(),
            it.meaning(),
            it.standing(),
            it.at());
        world.beside.takes(step(p, mail, null, List.of()));
      }
      case FromMeanings it -> take(p, mail, it.row(), null, it.twin());
    }
  }

  private void passOn(Processor p, Read read, Mail to) {
    p.posted.add(to);
    world.beside.takes(step(p, read, null, List.of(to)));
  }

  private Step step(Processor p, @Nullable Read read, @Nullable Made made, List<Mail> posted) {
    return new Step(p.number, read, made, posted, heardUntil(p, clock(p)), List.copyOf(p.states));
  }

  /**
   * An intent, a cancel or a read.
   *
   * @param original what was told of the operation that this one undoes; null before it was asked
   * @param twin of the same meaning, negative when there is none; null where nobody looked
   */
  private void take(
      Processor p,
      Read read,
      Row row,
      @Nullable OriginalStanding original,
      @Nullable Integer twin) {
    OperationKey key = world.key(row.operation());
    Instant at = now(p);
    Principal principal = principal(row);
    if (row.written() == Written.CANCEL) {
      decide(
          p,
          row.operation(),
          new CancelReceived(
              key.tenant(),
              key.scope(),
              key.operationId(),
              at,
              principal,
              row.deliveryId(),
              World.instantOf(0),
              world.profile.policy().horizon(),
              world.profile.policy().clockSkew(),
              null,
              true),
          read,
          row);
      return;
    }
    boolean reads = row.written() == Written.READ;
    Intent intent =
        new Intent(
            key.tenant(),
            key.scope(),
            key.operationId(),
            row.deliveryId(),
            principal,
            reads ? Profile.READING : world.profile.policy().name(),
            null,
            World.TARGET,
            world.arguments(row),
            null,
            null,
            World.instantOf(0),
            null,
            null,
            reads ? null : world.undone(row.operation()));
    IntentReceived event =
        new IntentReceived(
            intent,
            at,
            null,
            true,
            Terms.of(reads ? world.profile.reading() : world.profile.policy()),
            reads ? null : world.fingerprint(row),
            budget(p, row.operation()),
            twin == null || twin < 0 ? null : world.key(twin).operationId(),
            original);
    decide(p, row.operation(), event, read, row);
  }

  private void takeResult(Processor p) {
    Told told = world.results.get(p.results++);
    p.dirty = true;
    Report report = told.report();
    OperationKey key = world.key(told.operation());
    int attempt = told.command().attempt();
    Answer answer =
        new Answer(
            report.reference(),
            report.body(),
            null,
            report.schema(),
            report.reason(),
            report.remoteStatus());
    if (told.command().kind() == ToolCommand.Kind.READ) {
      decide(
          p,
          told.operation(),
          new ReadReported(
              key.tenant(),
              key.scope(),
              key.operationId(),
              String.valueOf(told.command().deliveryId()),
              OWNER,
              now(p),
              report.resultId(),
              true,
              answer),
          told,
          null);
      return;
    }
    OperationEvent event =
        switch (report.finding()) {
          case SUCCEEDED -> result(p, key, report, attempt, AttemptOutcome.SUCCEEDED, answer);
          case FAILED_RETRYABLE ->
              result(p, key, report, attempt, AttemptOutcome.FAILED_RETRYABLE, answer);
          case FAILED_TERMINAL ->
              result(p, key, report, attempt, AttemptOutcome.FAILED_TERMINAL, answer);
          case UNKNOWN ->
              report.kind() == Report.Kind.RECONCILE
                  ? reconciled(p, key, report, attempt, Found.UNKNOWN, answer)
                  : result(p, key, report, attempt, AttemptOutcome.UNKNOWN, answer);
          case COMMITTED -> reconciled(p, key, report, attempt, Found.COMMITTED, answer);
          case ABSENT -> reconciled(p, key, report, attempt, Found.ABSENT, answer);
        };
    decide(p, told.operation(), event, told, null);
  }

  private OperationEvent result(
      Processor p,
      OperationKey key,
      Report report,
      int attempt,
      AttemptOutcome outcome,
      Answer answer) {
    return new ResultReported(key, now(p), report.resultId(), attempt, outcome, answer, null);
  }

  private OperationEvent reconciled(
      Processor p, OperationKey key, Report report, int attempt, Found found, Answer answer) {
    return new ReconciliationReported(
        key, now(p), report.resultId(), attempt, found, answer, report.at());
  }

  /** The operation whose deadline is over and came first; negative when nothing is due. */
  private int due(Processor p) {
    int first = -1;
    Instant earliest = heardUntil(p, clock(p)).plusNanos(1);
    for (int i = 0; i < p.states.size(); i++) {
      Instant due = p.states.get(i).nextDeadline().orElse(Instant.MAX);
      if (due.isBefore(earliest)) {
        first = i;
        earliest = due;
      }
    }
    return first;
  }

  private void sweep(Processor p, int operation) {
    p.dirty = true;
    decide(
        p,
        operation,
        new DeadlineReached(world.key(operation), now(p), budget(p, operation)),
        null,
        null);
  }

  private RetryBudget budget(Processor p, int operation) {
    Budget budget = world.profile.policy().retry().budget();
    Instant now = now(p);
    Bucket bucket = bucket(p, operation, now);
    return bucket.tokens() > 0
        ? RetryBudget.full(now)
        : RetryBudget.empty(
            Instant.ofEpochMilli(
                Math.max(bucket.since(), bucket.promised())
                    + budget.refillPeriod().toMillis() / budget.refillTokens()));
  }

  private Bucket bucket(Processor p, int operation, Instant at) {
    Budget budget = world.profile.policy().retry().budget();
    return p.buckets
        .getOrDefault(
            world.key(operation).tenant(), new Bucket(budget.tokens(), at.toEpochMilli(), 0))
        .at(at.toEpochMilli(), budget);
  }

  /**
   * @param read what the event came of; null for a deadline
   * @param row the intent that the event is about, or that it is asked for
   */
  private void decide(
      Processor p, int operation, OperationEvent event, @Nullable Read read, @Nullable Row row) {
    int place = world.protocol.ledger().applyAsInt(operation);
    OperationState before = p.states.get(place);
    p.heardUntil = heardUntil(p, event.at());
    Decision decision =
        world
            .protocol
            .decider()
            .decide(before, event, p.heardUntil, world.profile.governing(before, event));
    List<Mail> posted = new ArrayList<>();
    for (Effect effect : decision.effects()) {
      switch (effect) {
        case DispatchCommand it -> p.commands.add(new Sent(operation, command(it.command())));
        case RequestReconciliation it -> p.commands.add(new Sent(operation, command(it.command())));
        case SendReply it -> p.replies.add(new Reply(operation, it));
        case ChargeRetryBudget it -> {
          Bucket bucket = bucket(p, operation, it.at());
          p.buckets.put(
              it.tenant(),
              new Bucket(Math.max(0, bucket.tokens() - 1), bucket.since(), bucket.promised()));
        }
        case PromiseRetryToken it -> {
          Bucket bucket = bucket(p, operation, it.at());
          p.buckets.put(
              it.tenant(),
              new Bucket(bucket.tokens(), bucket.since(), it.comesAt().toEpochMilli()));
        }
        case AskOriginal it -> posted.add(new ToOriginal(operation, row, twin(read)));
        case TellCompensation it ->
            posted.add(new FromOriginal(Objects.requireNonNull(row), it.standing(), twin(read)));
        case ReleaseOriginal it -> posted.add(new ToOriginal(operation, null, null));
      }
    }
    if (world.profile.holdsSuspects()) {
      boolean asks = decision.effects().stream().anyMatch(AskOriginal.class::isInstance);
      Integer twin = event instanceof IntentReceived && !asks ? twin(read) : null;
      boolean keepsPlace = twin != null && twin < 0;
      posted.addAll(news(operation, before, decision.next(), event.at(), keepsPlace ? row : null));
    }
    p.posted.addAll(posted);
    p.states.set(place, decision.next());
    if (!decision.next().equals(before)) {
      p.changelog.add(new Put(place, decision.next()));
    }
    boolean unheard = decision.transitions().stream().anyMatch(it -> isUnheard(p, operation, it));
    Made made = new Made(operation, event, decision, unheard);
    p.made.add(made);
    world.beside.takes(step(p, read, made, posted));
  }

  /** What was found when an intent was held against the known meanings. */
  private static @Nullable Integer twin(@Nullable Read read) {
    if (read == null) {
      return null;
    }
    return switch (read) {
      case FromMeanings it -> Integer.valueOf(it.twin());
      case ToOriginal it -> it.twin();
      case FromOriginal it -> it.twin();
      case ToMeanings it -> null;
      case News it -> null;
      case Row it -> null;
      case Told it -> null;
    };
  }

  /**
   * What the index of meanings is told.
   *
   * @param row an intent for which the index keeps a place
   */
  private List<Mail> news(
      int operation, OperationState before, OperationState after, Instant at, @Nullable Row row) {
    List<Mail> news = new ArrayList<>();
    Standing standing = standing(after);
    Fingerprint meaning = meaning(after instanceof Known ? after : before);
    if (standing != standing(before) && meaning != null) {
      news.add(new News(operation, meaning, standing, at));
    }
    if (row != null) {
      Fingerprint asked = world.fingerprint(row);
      Fingerprint taken = meaning(after);
      if (standing == Standing.GONE || taken == null || !taken.matches(asked)) {
        news.add(new News(operation, asked, Standing.GONE, at));
      }
    }
    return news;
  }

  private static @Nullable Fingerprint meaning(OperationState state) {
    return state instanceof Known known ? known.binding().fingerprint() : null;
  }

  private static Standing standing(OperationState state) {
    return switch (state) {
      case Open s -> Standing.OPEN;
      case Succeeded s -> Standing.SETTLED;
      case FailedTerminal s -> Standing.SETTLED;
      case Absent s -> Standing.GONE;
      case Expired s -> Standing.GONE;
      case Cancelled s -> Standing.GONE;
    };
  }

  private void commit(Processor p) {
    if (atomic && p.generation != generation) {
      crash(p);
      return;
    }
    for (int output = 0; output < OUTPUTS; output++) {
      while (!p.output(output).isEmpty()) {
        flush(p, output);
      }
    }
    for (Made made : p.made) {
      world.oracle.decided(made, atomic);
    }
    p.made.clear();
    if (p.generation == generation) {
      kept =
          new Task(
              kept.states(),
              Map.copyOf(p.buckets),
              p.meanings.copy(),
              p.intents,
              p.results,
              List.copyOf(p.mail));
      p.dirty = false;
      world.beside.commits(p.number);
    } else {
      crash(p);
    }
  }

  private void flush(Processor p, int output) {
    switch (output) {
      case 0 -> {
        Put put = p.changelog.remove();
        kept = kept.with(put.place(), put.state());
      }
      case 1 -> {
        Sent sent = p.commands.remove();
        world.commands.add(sent);
        world.oracle.sent(sent, atomic);
      }
      case 2 -> {
        Reply told = p.replies.remove();
        world.oracle.replied(told.operation(), told.reply());
      }
      default -> {
        Mail mail = p.posted.remove();
        world.mail.get(mail.topic()).add(mail);
      }
    }
  }

  static ToolCommand command(Command c) {
    return new ToolCommand(
        switch (c.kind()) {
          case EXECUTE -> ToolCommand.Kind.EXECUTE;
          case READ -> ToolCommand.Kind.READ;
          case RECONCILE -> ToolCommand.Kind.RECONCILE;
        },
        new OperationKey(c.tenant(), c.scope(), String.valueOf(c.operationId())).recordKey(),
        c.commandId(),
        c.tenant(),
        c.scope(),
        c.operationId(),
        c.deliveryId(),
        c.attempt(),
        c.read(),
        c.action(),
        c.actionVersion(),
        c.target(),
        c.arguments(),
        c.precondition(),
        c.principal().name(),
        c.downstreamKey(),
        c.issuedAt(),
        c.firstAttemptAt(),
        c.deadline(),
        c.startWithin(),
        c.leaseOver(),
        c.workflowId(),
        c.step(),
        c.compensates());
  }
}
