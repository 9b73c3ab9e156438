package dev.ichido.simulation;

import java.util.List;
import java.util.Locale;

/**
 * One thing that happens. It names who and what by numbers of their own, so that a schedule stays
 * meaningful when parts of it are left out.
 */
record Action(Kind kind, int who, int what) {

  /** What may happen, each with how often it is chosen beside the others. */
  enum Kind {
    WRITES(10, "operation %d: a runtime writes %s"),
    WRITES_IN_OPEN_TRANSACTION(3, "operation %d: a transaction stays open after writing %s"),
    COMMITS_OPEN_TRANSACTION(6, "the open transaction is committed"),
    REPLAYS_INTENT(1, "an operator replays intent record %d"),
    REPLAYS_RESULT(1, "an operator replays result record %d"),
    PERSON_SETTLES(3, "a person looks at the remote and says what became of operation %d"),

    RELAY_STARTS(8, "relay %d takes the slot"),
    RELAY_SENDS(14, "relay %d sends a batch"),
    RELAY_COMMITS(14, "relay %d is acknowledged"),
    RELAY_MARKS(12, "relay %d moves the slot"),
    RELAY_NOTICES(6, "relay %d notices that it lost the slot"),
    RELAY_LOSES_SLOT(2, "relay %d loses its connection to the slot"),
    RELAY_CRASHES(2, "relay %d is killed"),

    PROCESSOR_STARTS(8, "processor %d takes over"),
    PROCESSOR_TAKES_INTENT(20, "processor %d takes an intent"),
    PROCESSOR_TAKES_RESULT(20, "processor %d takes a result"),
    PROCESSOR_TAKES_MAIL(20, "processor %d takes what an operation asks or tells another"),
    PROCESSOR_SWEEPS(14, "processor %d sweeps a deadline"),
    PROCESSOR_FLUSHES(10, "processor %d gets one record of %s through"),
    PROCESSOR_COMMITS(20, "processor %d commits"),
    PROCESSOR_ABORTS(2, "processor %d loses its transaction"),
    PROCESSOR_CRASHES(2, "processor %d is killed"),
    PROCESSOR_CRASHES_ON_DISK(1, "processor %d is killed and keeps its disk"),

    EXECUTOR_JOINS(6, "executor %d is given the commands"),
    EXECUTOR_POLLS(20, "executor %d polls a command"),
    EXECUTOR_CLAIMS(20, "executor %d asks for the claim of command %d"),
    EXECUTOR_CLAIMS_UNSURE(1, "executor %d loses the answer about the claim of command %d"),
    EXECUTOR_GOES_ON(20, "executor %d goes on with command %d"),
    EXECUTOR_CALLS(20, "executor %d sends the call of command %d"),
    EXECUTOR_TIMES_OUT(3, "executor %d gets no answer to command %d in time"),
    EXECUTOR_GIVES_UP(2, "executor %d gives up on command %d while it runs"),
    EXECUTOR_ASKS(20, "executor %d reads the status for command %d"),
    EXECUTOR_ASKS_IN_VAIN(2, "executor %d can't read the status for command %d"),
    EXECUTOR_RECORDS(20, "executor %d records the result of command %d"),
    EXECUTOR_REPORTS(20, "executor %d reports on command %d"),
    EXECUTOR_REPORTS_LATE(10, "executor %d reports a late answer to command %d"),
    EXECUTOR_COMMITS(14, "executor %d commits its position"),
    EXECUTOR_NOTICES(10, "executor %d notices that it lost the commands"),
    EXECUTOR_CRASHES(2, "executor %d is killed"),

    REQUEST_TAKES_EFFECT(16, "request %d takes effect"),
    REQUEST_TAKES_EFFECT_AND_BREAKS(4, "request %d takes effect and its answer breaks off"),
    REQUEST_IS_NOT_ACCEPTED(3, "request %d is provably not accepted"),
    REQUEST_IS_REFUSED(2, "request %d is refused for good"),
    REQUEST_IS_LOST(3, "request %d is lost"),
    ANSWER_ARRIVES(16, "the answer to request %d arrives"),
    NETWORK_HOLDS(2, "request %d is held back on its way"),
    NETWORK_LETS_GO(4, "request %d is let go"),

    PAUSES(4, "%s is paused"),
    RESUMES(6, "%s wakes up"),
    CLOCK_JUMPS(4, "the clock of %s jumps to %d ms beside the true time"),
    TIME_PASSES(6, "%s pass"),
    TIME_COMES(6, "time comes to the next deadline");

    final int weight;
    private final String text;

    Kind(int weight, String text) {
      this.weight = weight;
      this.text = text;
    }
  }

  /** What a runtime may write about an operation. */
  enum Written {
    INTENT("an intent"),
    OTHER_MEANING("an intent of another meaning"),
    OTHER_PRINCIPAL("an intent of another principal"),
    CANCEL("a cancel"),
    READ("a read");

    private final String text;

    Written(String text) {
      this.text = text;
    }
  }

  /** What a runtime may write, by the number that an action carries. */
  static final List<Written> WRITTEN = List.of(Written.values());

  private static final String[] ROLES = {"relay", "processor", "executor"};
  private static final String[] OUTPUTS = {
    "the changelog", "the commands", "the replies", "the mail"
  };
  static final long[] SPANS = {100, 700, 3_000, 11_000};

  /** Two of each role: the number of the role's kind times two, plus the number of the role. */
  static int role(int kind, int number) {
    return kind * 2 + number;
  }

  /** The other of the two. */
  static int otherRole(int role) {
    return role ^ 1;
  }

  @Override
  public String toString() {
    return switch (kind) {
      case WRITES, WRITES_IN_OPEN_TRANSACTION -> text(who, WRITTEN.get(what).text);
      case PROCESSOR_FLUSHES -> text(who, OUTPUTS[what]);
      case PAUSES, RESUMES -> text(ROLES[who / 2] + " " + who % 2);
      case CLOCK_JUMPS -> text(ROLES[who / 2] + " " + who % 2, what);
      case TIME_PASSES -> text(SPANS[who] + " ms");
      case EXECUTOR_CLAIMS,
          EXECUTOR_CLAIMS_UNSURE,
          EXECUTOR_GOES_ON,
          EXECUTOR_CALLS,
          EXECUTOR_TIMES_OUT,
          EXECUTOR_GIVES_UP,
          EXECUTOR_ASKS,
          EXECUTOR_ASKS_IN_VAIN,
          EXECUTOR_RECORDS,
          EXECUTOR_REPORTS,
          EXECUTOR_REPORTS_LATE ->
          text(who, what);
      default -> text(who);
    };
  }

  private String text(Object... values) {
    return String.format(Locale.ROOT, kind.text, values);
  }
}
