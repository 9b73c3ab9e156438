package dev.ichido.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.Effect;
import dev.ichido.decision.Effect.AskOriginal;
import dev.ichido.decision.Effect.ChargeRetryBudget;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.PromiseRetryToken;
import dev.ichido.decision.Effect.ReleaseOriginal;
import dev.ichido.decision.Effect.RequestReconciliation;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.Effect.TellCompensation;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.Transition;
import dev.ichido.operation.OperationKey;
import dev.ichido.schemas.CarriedHeaders;
import dev.ichido.simulation.Executors.Told;
import dev.ichido.simulation.Person.Word;
import dev.ichido.simulation.Processors.Made;
import dev.ichido.simulation.Protocol.Guarantee;
import dev.ichido.simulation.Relays.Row;
import dev.ichido.simulation.ShippedTask.Out;
import dev.ichido.topology.NodeNames;
import dev.ichido.topology.policy.ActionRules;
import dev.ichido.topology.policy.Authorization;
import dev.ichido.topology.policy.LocatedTree;
import dev.ichido.topology.policy.PolicyLoader;
import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.policy.TenantPolicy;
import dev.ichido.topology.store.DeadlineKey;
import dev.ichido.topology.store.StoredOperation;
import dev.ichido.topology.wire.EffectMapper;
import dev.ichido.topology.wire.InternalMessage;
import dev.ichido.topology.wire.InternalMessage.Looked;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * The shipped topology beside the model: it reads the same records in its own bytes under the same
 * clock, loses and keeps what the model loses and keeps, and whatever it does otherwise is a
 * violation.
 */
final class Shipped implements Beside {
  private static final String REPARTITION = "-repartition";
  private static final List<String> MAIL =
      List.of(
          NodeNames.COMPENSATIONS + REPARTITION,
          NodeNames.SUSPECTS + REPARTITION,
          NodeNames.CHECKED_INTENTS + REPARTITION);

  private final World world;
  private final ShippedGraph graph;
  private final Flaw flaw;
  private final ShippedRecords records;
  private final EffectMapper effects;
  private final @Nullable ShippedTask[] tasks = new ShippedTask[2];
  private final IdentityHashMap<Mail, Out> posted = new IdentityHashMap<>();
  private Map<String, NavigableMap<Bytes, byte[]>> kept = new HashMap<>();

  /** What a topology that is broken on purpose does. */
  interface Flaw {
    /** As shipped. */
    Flaw NONE = new Flaw() {};

    default List<Out> sends(List<Out> sent) {
      return sent;
    }

    default void keeps(Map<String, NavigableMap<Bytes, byte[]>> changelogs) {}
  }

  Shipped(World world, ShippedGraph graph, Flaw flaw) {
    if (world.protocol.guarantee() != Guarantee.EXACTLY_ONCE) {
      throw new IllegalArgumentException("Expected transactions, but each write is for itself.");
    }
    this.world = world;
    this.graph = graph;
    this.flaw = flaw;
    this.records = new ShippedRecords(world, graph.topics, graph.serdes);
    this.effects = new EffectMapper(graph.topics, graph.serdes);
  }

  /** The policies of a profile, as the topology is given them. */
  static PolicySet policies(Profile profile) {
    Authorization authorize =
        PolicyLoader.released()
            .load(
                LocatedTree.read(
                    "policy",
                    "{ tenants: { t: { principals: [p] } }, actions: { a: { effect: write } } }"))
            .actions()
            .values()
            .iterator()
            .next()
            .authorize();
    Map<String, TenantPolicy> tenants = new HashMap<>();
    for (String tenant : List.of("t1", "t2")) {
      tenants.put(
          tenant,
          new TenantPolicy(
              tenant,
              List.of("agent:owner", "agent:other"),
              Optional.of(List.of("person:*")),
              World.FINGERPRINT_KEY));
    }
    return new PolicySet(
        tenants,
        Map.of(
            profile.policy().name(),
            new ActionRules(profile.policy(), authorize, Optional.empty()),
            Profile.READING,
            new ActionRules(profile.reading(), authorize, Optional.empty())));
  }

  @Override
  public void starts(int processor) {
    tasks[processor] = new ShippedTask(graph, kept, clock(processor));
  }

  @Override
  public void stops(int processor) {
    tasks[processor] = null;
  }

  @Override
  public void commits(int processor) {
    kept = task(processor).changelogs();
    flaw.keeps(kept);
  }

  @Override
  public void takes(Step step) {
    try {
      compare(step);
    } catch (ViolationException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new ViolationException(Invariant.AS_SHIPPED, "the topology fails: " + e);
    }
  }

  private void compare(Step step) {
    ShippedTask task = task(step.processor());
    long now = clock(step.processor());
    task.setClock(now);
    graph.hear(step.heardUntil());
    Read read = step.read();
    if (read == null) {
      require(
          world.profile.clocksJump() || task.nextLook() <= now + 1,
          "it looks for what is due only in " + (task.nextLook() - now) + " ms");
      same(step, null, flaw.sends(task.punctuate()));
    } else {
      lookInVain(task, now, step.heardUntil());
      Out record = record(read, step);
      same(step, record, flaw.sends(task.read(record)));
    }
    for (int i = 0; i < step.states().size(); i++) {
      StoredOperation stored = task.operation(world.recordKey(i));
      same(
          "state of operation " + i,
          step.states().get(i),
          stored == null ? Absent.NOTHING : stored.state());
    }
    same("deadlines", deadlines(step.states()), task.deadlines());
    require(
        world.profile.clocksJump() || task.nextLook() <= Math.max(now, firstDeadline(task)) + 1,
        "it looks for what is due only in " + (task.nextLook() - now) + " ms");
  }

  /** The planned look of a task where nothing is due. */
  private void lookInVain(ShippedTask task, long now, Instant heardUntil) {
    if (task.nextLook() <= now && firstDeadline(task) > heardUntil.toEpochMilli()) {
      same("what a look in vain sends", List.of(), topicsOf(task.punctuate()));
    }
  }

  private static long firstDeadline(ShippedTask task) {
    List<Bytes> deadlines = task.deadlines();
    return deadlines.isEmpty()
        ? Long.MAX_VALUE - 1
        : DeadlineKey.of(deadlines.getFirst().get()).dueMillis();
  }

  private List<Bytes> deadlines(List<OperationState> states) {
    List<Bytes> keys = new ArrayList<>();
    for (int i = 0; i < states.size(); i++) {
      String recordKey = world.recordKey(i);
      states
          .get(i)
          .nextDeadline()
          .ifPresent(
              due -> keys.add(Bytes.wrap(new DeadlineKey(due.toEpochMilli(), recordKey).bytes())));
    }
    return keys.stream().sorted().toList();
  }

  private ShippedTask task(int processor) {
    return Objects.requireNonNull(tasks[processor], "a processor that does not run");
  }

  private long clock(int processor) {
    return world.instant(Action.role(1, processor)).toEpochMilli();
  }

  /** The bytes in which the topology reads it. */
  private Out record(Read read, Step step) {
    long now = clock(step.processor());
    return switch (read) {
      case Row row -> {
        Word word = row.word();
        yield new Out(
            word == null ? graph.topics.intents() : graph.topics.results(),
            ShippedRecords.key(world.recordKey(row.operation())),
            word == null
                ? records.intent(row)
                : records.resolution(row, word, Instant.ofEpochMilli(now)),
            now,
            traced(row.deliveryId()));
      }
      case Told told ->
          new Out(
              graph.topics.results(),
              ShippedRecords.key(told.command().recordKey()),
              records.result(told),
              now,
              traced(told.report().resultId()));
      case Mail mail -> Objects.requireNonNull(posted.get(mail), "mail that was not posted");
    };
  }

  private static Headers traced(String id) {
    return new RecordHeaders().add(CarriedHeaders.TRACE, id.getBytes(UTF_8));
  }

  /** Everything that left is what the model says. */
  private void same(Step step, @Nullable Out read, List<Out> sent) {
    List<Out> left = new ArrayList<>(sent);
    if (!world.profile.holdsSuspects()) {
      left.removeIf(it -> it.topic().equals(MAIL.get(1)));
      sent.stream()
          .filter(it -> it.topic().equals(MAIL.get(1)))
          .flatMap(it -> task(step.processor()).read(it).stream())
          .forEach(it -> same("what the index sends", graph.topics.journal(), it.topic()));
    }
    Made made = step.made();
    int operation = made == null ? -1 : made.operation();
    List<Effect> wanted = made == null ? List.of() : made.decision().effects();
    same(
        "commands",
        commands(wanted),
        sentTo(left, graph.topics.commands())
            .map(it -> records.command(it.key(), it.value()))
            .toList());
    same(
        "replies",
        replies(wanted),
        sentTo(left, graph.topics.replies()).map(it -> records.reply(it.value())).toList());
    same(
        "journal",
        made == null ? List.of() : journal(made),
        sentTo(left, graph.topics.journal()).map(it -> Bytes.wrap(it.value())).toList());
    same(
        "dead letters",
        made == null || read == null ? 0L : deadLetters(made),
        sentTo(left, graph.topics.deadLetters()).count());
    int rest = 0;
    for (int topic = 0; topic < Mail.TOPICS; topic++) {
      int number = topic;
      List<Mail> mail = step.posted().stream().filter(it -> it.topic() == number).toList();
      List<Out> shipped = sentTo(left, MAIL.get(topic)).toList();
      same("number of " + MAIL.get(topic), mail.size(), shipped.size());
      rest += mail.size();
      for (int i = 0; i < mail.size(); i++) {
        same(mail.get(i), shipped.get(i));
        posted.put(mail.get(i), shipped.get(i));
      }
    }
    List<String> topics =
        List.of(
            graph.topics.commands(),
            graph.topics.replies(),
            graph.topics.journal(),
            graph.topics.deadLetters());
    for (Out out : left) {
      if (topics.contains(out.topic())) {
        same("key", world.recordKey(operation), new String(out.key(), UTF_8));
        String trace = trace(out.headers());
        require(
            read == null ? !trace.isEmpty() : trace.equals(trace(read.headers())),
            "the trace is lost on its way to " + out.topic());
      }
    }
    same(
        "number of records",
        left.stream().filter(it -> topics.contains(it.topic())).count() + rest,
        (long) left.size());
  }

  private static String trace(Headers headers) {
    Header header = headers.lastHeader(CarriedHeaders.TRACE);
    return header == null ? "" : new String(header.value(), UTF_8);
  }

  private static Stream<Out> sentTo(List<Out> sent, String topic) {
    return sent.stream().filter(it -> it.topic().equals(topic));
  }

  private static List<String> topicsOf(List<Out> sent) {
    return sent.stream().map(Out::topic).toList();
  }

  private static List<Object> commands(List<Effect> wanted) {
    List<Object> commands = new ArrayList<>();
    for (Effect effect : wanted) {
      switch (effect) {
        case DispatchCommand it -> commands.add(Processors.command(it.command()));
        case RequestReconciliation it -> commands.add(Processors.command(it.command()));
        case SendReply it -> {}
        case ChargeRetryBudget it -> {}
        case PromiseRetryToken it -> {}
        case AskOriginal it -> {}
        case TellCompensation it -> {}
        case ReleaseOriginal it -> {}
      }
    }
    return commands;
  }

  private static List<SendReply> replies(List<Effect> wanted) {
    return wanted.stream()
        .filter(SendReply.class::isInstance)
        .map(it -> ShippedRecords.seen((SendReply) it))
        .toList();
  }

  /** What is refused for good lies there too. */
  private static long deadLetters(Made made) {
    return made.decision().verdict().fault() == null ? 0 : 1;
  }

  private List<Bytes> journal(Made made) {
    OperationKey key = made.event().key();
    List<Bytes> lines = new ArrayList<>();
    for (Transition transition : made.decision().transitions()) {
      lines.add(
          Bytes.wrap(
              effects.journal(key.tenant(), key.scope(), key.operationId(), transition).value()));
    }
    return lines;
  }

  private void same(Mail mail, Out out) {
    InternalMessage message = InternalMessage.read(out.value());
    String key = new String(out.key(), UTF_8);
    switch (mail) {
      case Mail.ToOriginal question -> {
        int by = question.by();
        Row row = question.row();
        same("key of mail", world.recordKey(0), key);
        if (row == null) {
          same(
              "release",
              new InternalMessage.CompensationRelease(world.key(by).operationId()),
              message);
        } else if (message instanceof InternalMessage.CompensationQuestion it) {
          same("who undoes", world.key(by).operationId(), it.compensation());
          same("delivery", row.deliveryId(), it.deliveryId());
          same("principal", Processors.principal(row).name(), it.principal());
          same("twin", looked(question.twin()), it.looked());
          sameIntent(row, it.source().value());
        } else {
          throw differs("question", mail, message);
        }
      }
      case Mail.FromOriginal it -> {
        same("key of mail", world.recordKey(it.row().operation()), key);
        if (message instanceof InternalMessage.CompensationAnswer answer) {
          same("standing of the original", it.standing(), answer.standing());
          same("twin", looked(it.twin()), answer.looked());
          sameIntent(it.row(), answer.source().value());
        } else {
          throw differs("answer", mail, message);
        }
      }
      case Mail.ToMeanings it -> {
        if (message instanceof InternalMessage.Question question) {
          same("who asks", world.key(it.row().operation()).operationId(), question.operationId());
          sameIntent(it.row(), question.source().value());
        } else {
          throw differs("question", mail, message);
        }
      }
      case Mail.News it -> {
        if (message instanceof InternalMessage.News news) {
          same("news of", world.key(it.operation()).operationId(), news.operationId());
          same("news", it.standing().name(), news.standing().name());
          same("time of news", it.at(), news.at());
        } else {
          throw differs("news", mail, message);
        }
      }
      case Mail.FromMeanings it -> {
        same("key of mail", world.recordKey(it.row().operation()), key);
        if (message instanceof InternalMessage.Answer answer) {
          same(
              "twin",
              it.twin() < 0 ? null : world.key(it.twin()).operationId(),
              answer.suspectOf());
          sameIntent(it.row(), answer.source().value());
        } else {
          throw differs("answer", mail, message);
        }
      }
    }
  }

  private Looked looked(@Nullable Integer twin) {
    return twin == null ? Looked.NOT : new Looked(true, operationId(twin));
  }

  private @Nullable String operationId(int twin) {
    return twin < 0 ? null : world.key(twin).operationId();
  }

  private void sameIntent(Row row, byte @Nullable [] value) {
    require(
        Arrays.equals(records.intent(row), value), "the mail carries another intent than was read");
  }

  private static void same(String what, @Nullable Object model, @Nullable Object shipped) {
    if (!Objects.equals(model, shipped)) {
      throw differs(what, model, shipped);
    }
  }

  private static ViolationException differs(
      String what, @Nullable Object model, @Nullable Object shipped) {
    return new ViolationException(
        Invariant.AS_SHIPPED, what + ": the model has " + model + ", shipped is " + shipped);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new ViolationException(Invariant.AS_SHIPPED, what);
    }
  }
}
