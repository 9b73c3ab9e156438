package dev.ichido.simulation;

import dev.ichido.executor.Report.Finding;
import dev.ichido.executor.ToolCommand;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The remote, its own book, and the calls that are under way to it. */
final class Remote {
  private final World world;
  private final List<Request> open = new ArrayList<>();
  private final List<List<Effect>> book = new ArrayList<>();
  private final Map<String, Effect> keys = new HashMap<>();
  private final boolean[] lied = new boolean[World.OPERATIONS];
  private int requests;

  /**
   * What took place.
   *
   * @param late the call was longer under way than {@link Profile#LONGEST_CALL}
   */
  record Effect(int attempt, String reference, String arguments, long at, boolean late) {}

  /** An answer under way. */
  record Answered(Finding finding, @Nullable String reference) {}

  /** One call. */
  static final class Request {
    final int id;
    final int operation;
    final ToolCommand command;
    final int executor;
    final int life;
    final int work;
    final long checkedAt;
    boolean held;
    boolean arrived;
    @Nullable Answered answered;

    Request(int id, int operation, ToolCommand command, int executor, int life, int work, long at) {
      this.id = id;
      this.operation = operation;
      this.command = command;
      this.executor = executor;
      this.life = life;
      this.work = work;
      this.checkedAt = at;
    }
  }

  Remote(World world) {
    this.world = world;
    for (int i = 0; i < World.OPERATIONS; i++) {
      book.add(new ArrayList<>());
    }
  }

  List<Effect> effects(int operation) {
    return book.get(operation);
  }

  /** Whether a status read found nothing although the effect had taken place. */
  boolean lied(int operation) {
    return lied[operation];
  }

  Request call(int operation, ToolCommand command, int executor, int life, int work, long checked) {
    Request request = new Request(requests++, operation, command, executor, life, work, checked);
    open.add(request);
    return request;
  }

  /** What a status read finds now. */
  Answered status(int operation) {
    if (!world.profile.statusRead()) {
      return new Answered(Finding.UNKNOWN, null);
    }
    for (Effect effect : book.get(operation)) {
      if (effect.at() + world.profile.lagMillis() <= world.now) {
        return new Answered(Finding.COMMITTED, effect.reference());
      }
    }
    lied[operation] |= !book.get(operation).isEmpty();
    return new Answered(Finding.ABSENT, null);
  }

  /** Whether a call for the operation may still take effect. */
  boolean isUnderWay(int operation) {
    return open.stream().anyMatch(it -> it.operation == operation && !it.arrived);
  }

  boolean isOpen(Request request) {
    return open.contains(request);
  }

  void offer(List<Action> actions) {
    for (Request request : open) {
      world.offer(actions, Action.Kind.REQUEST_TAKES_EFFECT, request.id, 0);
      world.offer(actions, Action.Kind.REQUEST_TAKES_EFFECT_AND_BREAKS, request.id, 0);
      world.offer(actions, Action.Kind.REQUEST_IS_NOT_ACCEPTED, request.id, 0);
      world.offer(actions, Action.Kind.REQUEST_IS_REFUSED, request.id, 0);
      world.offer(actions, Action.Kind.REQUEST_IS_LOST, request.id, 0);
      world.offer(actions, Action.Kind.ANSWER_ARRIVES, request.id, 0);
      world.offer(actions, Action.Kind.NETWORK_HOLDS, request.id, 0);
      world.offer(actions, Action.Kind.NETWORK_LETS_GO, request.id, 0);
    }
  }

  @Nullable Runnable way(Action action) {
    Request request = find(action.who());
    if (request == null) {
      return null;
    }
    boolean underWay = !request.arrived && !request.held;
    return switch (action.kind()) {
      case REQUEST_TAKES_EFFECT -> underWay ? () -> takeEffect(request, Finding.SUCCEEDED) : null;
      case REQUEST_TAKES_EFFECT_AND_BREAKS ->
          underWay ? () -> takeEffect(request, Finding.UNKNOWN) : null;
      case REQUEST_IS_NOT_ACCEPTED ->
          underWay && remembered(request) == null
              ? () -> answer(request, Finding.FAILED_RETRYABLE, null)
              : null;
      case REQUEST_IS_REFUSED ->
          underWay && remembered(request) == null
              ? () -> answer(request, Finding.FAILED_TERMINAL, null)
              : null;
      case REQUEST_IS_LOST -> () -> open.remove(request);
      case NETWORK_HOLDS -> underWay ? () -> request.held = true : null;
      case NETWORK_LETS_GO -> request.held ? () -> request.held = false : null;
      case ANSWER_ARRIVES -> {
        Answered answered = request.answered;
        yield answered == null ? null : () -> arrive(request, answered);
      }
      default -> null;
    };
  }

  /** In a bounded world a call that is under way too long has come to nothing. */
  void timePasses() {
    if (world.profile.bounded()) {
      open.removeIf(it -> !it.arrived && world.now - it.checkedAt > Profile.LONGEST_CALL);
    }
  }

  private @Nullable Request find(int id) {
    for (Request request : open) {
      if (request.id == id) {
        return request;
      }
    }
    return null;
  }

  private @Nullable Effect remembered(Request request) {
    Effect known = keys.get(request.command.downstreamKey());
    return known != null && world.now < known.at() + world.profile.windowMillis() ? known : null;
  }

  private void takeEffect(Request request, Finding told) {
    Effect known = remembered(request);
    if (known == null) {
      List<Effect> effects = book.get(request.operation);
      known =
          new Effect(
              request.command.attempt(),
              "e" + request.id,
              request.command.arguments(),
              world.now,
              world.now - request.checkedAt > Profile.LONGEST_CALL);
      effects.add(known);
      if (world.profile.windowMillis() > 0) {
        keys.put(String.valueOf(request.command.downstreamKey()), known);
      }
      world.oracle.tookEffect(request.operation);
    }
    answer(request, told, told == Finding.SUCCEEDED ? known.reference() : null);
  }

  private static void answer(Request request, Finding finding, @Nullable String reference) {
    request.arrived = true;
    request.answered = new Answered(finding, reference);
  }

  private void arrive(Request request, Answered answered) {
    open.remove(request);
    world.executors.answered(request, answered);
  }
}
