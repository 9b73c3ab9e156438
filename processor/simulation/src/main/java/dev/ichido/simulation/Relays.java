package dev.ichido.simulation;

import dev.ichido.simulation.Action.Written;
import dev.ichido.simulation.Person.Word;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outbox, its one slot and two relays. The steps are those of the shipped relay: the slot is
 * the only position, a batch is one fenced transaction, and the slot moves after it is
 * acknowledged.
 */
final class Relays {
  private static final int BATCH = 3;
  static final int ROWS = 8;

  private final World world;
  private final Relay[] relays = {new Relay(), new Relay()};

  /** Committed rows, in commit order. */
  private final List<Row> log = new ArrayList<>();

  private final List<Row> open = new ArrayList<>();
  private int rows;
  private int slot;
  private int holder = -1;
  private int epoch;

  /**
   * A row of the outbox; its id grows with the insert, its place in the log with the commit.
   *
   * @param word of a person, who writes past the outbox; null in all others
   */
  record Row(int id, int operation, Written written, @Nullable Word word) implements Read {
    String deliveryId() {
      return (word == null ? "d" : "w") + id;
    }
  }

  private enum Stage {
    IDLE,
    SENT,
    ACKNOWLEDGED
  }

  private static final class Relay {
    boolean running;
    int position;

    /** End of what the connection had brought when it was lost. */
    int brought;

    int epoch;
    Stage stage = Stage.IDLE;
    List<Row> batch = List.of();
  }

  Relays(World world) {
    this.world = world;
  }

  List<Row> log() {
    return log;
  }

  void offer(List<Action> actions) {
    for (int i = 0; i < world.operations; i++) {
      for (int written = 0; written < Action.WRITTEN.size(); written++) {
        world.offer(actions, Action.Kind.WRITES, i, written);
        world.offer(actions, Action.Kind.WRITES_IN_OPEN_TRANSACTION, i, written);
      }
    }
    world.offer(actions, Action.Kind.COMMITS_OPEN_TRANSACTION, 0, 0);
    for (int i = 0; i < relays.length; i++) {
      world.offer(actions, Action.Kind.RELAY_STARTS, i, 0);
      world.offer(actions, Action.Kind.RELAY_SENDS, i, 0);
      world.offer(actions, Action.Kind.RELAY_COMMITS, i, 0);
      world.offer(actions, Action.Kind.RELAY_MARKS, i, 0);
      world.offer(actions, Action.Kind.RELAY_NOTICES, i, 0);
      world.offer(actions, Action.Kind.RELAY_LOSES_SLOT, i, 0);
      world.offer(actions, Action.Kind.RELAY_CRASHES, i, 0);
    }
  }

  @Nullable Runnable way(Action action) {
    int i = action.who();
    return switch (action.kind()) {
      case WRITES -> rows < world.rows ? () -> log.add(row(action)) : null;
      case WRITES_IN_OPEN_TRANSACTION -> rows < world.rows ? () -> open.add(row(action)) : null;
      case COMMITS_OPEN_TRANSACTION -> open.isEmpty() ? null : this::commitOpen;
      case RELAY_STARTS -> !relays[i].running && awake(i) && holder < 0 ? () -> start(i) : null;
      case RELAY_SENDS -> in(i, Stage.IDLE) && !next(i).isEmpty() ? () -> send(i) : null;
      case RELAY_COMMITS -> in(i, Stage.SENT) ? () -> commit(i) : null;
      case RELAY_MARKS -> in(i, Stage.ACKNOWLEDGED) ? () -> mark(i) : null;
      case RELAY_NOTICES ->
          in(i, Stage.IDLE) && holder != i && next(i).isEmpty() ? () -> stop(i) : null;
      case RELAY_LOSES_SLOT -> holder == i ? () -> loseSlot(i) : null;
      case RELAY_CRASHES -> relays[i].running ? () -> stop(i) : null;
      default -> null;
    };
  }

  /** What a delivery means by its operation; a cancel and a read mean whatever it is. */
  boolean isOfAnotherMeaning(String deliveryId, @Nullable String arguments) {
    for (Row row : log) {
      if (row.deliveryId().equals(deliveryId)) {
        return switch (row.written()) {
          case INTENT, OTHER_PRINCIPAL, OTHER_MEANING -> !world.arguments(row).equals(arguments);
          case CANCEL, READ -> false;
        };
      }
    }
    return true;
  }

  private boolean awake(int i) {
    return world.isAwake(Action.role(0, i));
  }

  private boolean in(int i, Stage stage) {
    return relays[i].running && relays[i].stage == stage && awake(i);
  }

  private Row row(Action action) {
    return new Row(rows++, action.who(), Action.WRITTEN.get(action.what()), null);
  }

  private void commitOpen() {
    log.addAll(open);
    open.clear();
  }

  private void start(int i) {
    holder = i;
    Relay relay = new Relay();
    relay.running = true;
    relay.position = slot;
    relays[i] = relay;
  }

  private List<Row> next(int i) {
    Relay relay = relays[i];
    if (world.protocol.relay().byRowId()) {
      return log.stream()
          .filter(row -> row.id() >= relay.position)
          .sorted(Comparator.comparingInt(Row::id))
          .limit(BATCH)
          .toList();
    }
    int end = Math.min(relay.position + BATCH, holder == i ? log.size() : relay.brought);
    return relay.position < end ? log.subList(relay.position, end) : List.of();
  }

  private int after(Relay relay) {
    return world.protocol.relay().byRowId()
        ? relay.batch.get(relay.batch.size() - 1).id() + 1
        : relay.position + relay.batch.size();
  }

  /** The first batch fences every relay before it, and the slot is looked at after that. */
  private void send(int i) {
    Relay relay = relays[i];
    relay.batch = List.copyOf(next(i));
    if (relay.epoch == 0) {
      relay.epoch = ++epoch;
      if (holder != i) {
        stop(i);
        return;
      }
    }
    relay.stage = Stage.SENT;
    if (world.protocol.relay().marksFirst() && holder == i) {
      slot = after(relay);
    }
  }

  private void commit(int i) {
    Relay relay = relays[i];
    if (relay.epoch != epoch) {
      stop(i);
      return;
    }
    for (Row row : relay.batch) {
      world.intents.add(row);
      world.oracle.relayed(row, log);
    }
    relay.stage = Stage.ACKNOWLEDGED;
  }

  private void mark(int i) {
    Relay relay = relays[i];
    if (holder != i) {
      stop(i);
      return;
    }
    relay.position = after(relay);
    slot = relay.position;
    relay.stage = Stage.IDLE;
  }

  private void loseSlot(int i) {
    holder = -1;
    relays[i].brought = log.size();
  }

  private void stop(int i) {
    if (holder == i) {
      holder = -1;
    }
    relays[i] = new Relay();
  }
}
