package dev.ichido.decision.table;

import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.ActionPolicy.ActionEffect;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.ActionPolicy.Remote;
import dev.ichido.decision.ActionPolicy.Retry;
import dev.ichido.decision.Answer;
import dev.ichido.decision.Decision;
import dev.ichido.decision.Effect.DispatchCommand;
import dev.ichido.decision.Effect.RequestReconciliation;
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
import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.OperationEvent.ResultReported;
import dev.ichido.decision.OperationEvent.Terms;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.OperationStateMachine;
import dev.ichido.decision.OriginalStanding;
import dev.ichido.decision.RetryBudget;
import dev.ichido.decision.StateName;
import dev.ichido.decision.Transition;
import dev.ichido.decision.Verdict;
import dev.ichido.operation.Intent;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.operation.Refusal;
import dev.ichido.operation.RefusalCode;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The matrix of states and events as data. Every cell is what {@link OperationStateMachine#decide}
 * answers, so the table cannot differ from the code.
 */
public final class DecisionTable {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final OperationKey KEY = new OperationKey("t1", "global", "op-0000000000000001");
  private static final String OTHER_OPERATION = "op-0000000000000002";
  private static final Principal OWNER = new Principal("agent:a");
  private static final Principal OTHER = new Principal("agent:b");
  private static final ActionPolicy STANDARD = ActionPolicy.standard("pay.transfer");
  private static final Terms READ =
      new Terms(ActionEffect.READ, STANDARD.clockSkew(), STANDARD.lease());

  private DecisionTable() {}

  /** A representative state, by what tells it from the others in the table. */
  public enum Row {
    ABSENT("ABSENT"),
    ABSENT_WITH_EVIDENCE("ABSENT with evidence"),
    IN_PROGRESS("IN_PROGRESS"),
    IN_PROGRESS_LEASE_OVER("IN_PROGRESS, lease over"),
    IN_PROGRESS_UNPROVEN("IN_PROGRESS, earlier attempt unproven"),
    UNKNOWN("UNKNOWN_RECONCILIATION"),
    UNKNOWN_COVERED("UNKNOWN_RECONCILIATION, dedupe window open"),
    UNKNOWN_EARLIER("UNKNOWN_RECONCILIATION, only an earlier attempt unproven"),
    FAILED_RETRYABLE_EARLY("FAILED_RETRYABLE, before its time"),
    FAILED_RETRYABLE("FAILED_RETRYABLE"),
    FAILED_RETRYABLE_STUCK("FAILED_RETRYABLE, stuck"),
    SUCCEEDED("SUCCEEDED"),
    SUCCEEDED_RETENTION_OVER("SUCCEEDED, retention over"),
    FAILED_TERMINAL("FAILED_TERMINAL"),
    EXPIRED("EXPIRED"),
    EXPIRED_TOMBSTONE_OVER("EXPIRED, tombstone over"),
    CANCELLED("CANCELLED");

    private final String label;

    Row(String label) {
      this.label = label;
    }

    /** The name of the row in the table. */
    public String label() {
      return label;
    }
  }

  /** A representative event. */
  public enum Column {
    INTENT_MALFORMED("intent, malformed"),
    INTENT_NOT_PERMITTED("intent, not permitted"),
    INTENT_READ("intent, read"),
    INTENT_OLD("intent, older than the horizon"),
    INTENT_OTHER_PRINCIPAL("intent, other principal"),
    INTENT_OTHER_FINGERPRINT("intent, other fingerprint"),
    INTENT_SUSPECT("intent, suspected twin"),
    INTENT("intent, same fingerprint"),
    INTENT_UNDOES("intent, undoes another"),
    INTENT_UNDOES_GRANTED("intent, undoes, granted"),
    INTENT_UNDOES_OPEN("intent, undoes, original open"),
    RESULT_SUCCEEDED("result SUCCEEDED"),
    RESULT_FAILED_RETRYABLE("result FAILED_RETRYABLE"),
    RESULT_FAILED_TERMINAL("result FAILED_TERMINAL"),
    RESULT_UNKNOWN("result UNKNOWN"),
    EARLIER_SUCCEEDED("earlier attempt SUCCEEDED"),
    EARLIER_NO_SUCCESS("earlier attempt, no success"),
    READ_REPORT("read report"),
    RECONCILE_COMMITTED("reconcile COMMITTED"),
    RECONCILE_ABSENT("reconcile ABSENT"),
    RECONCILE_UNKNOWN("reconcile UNKNOWN"),
    RESOLVE_SUCCEEDED("resolve SUCCEEDED"),
    RESOLVE_FAILED_TERMINAL("resolve FAILED_TERMINAL"),
    RESOLVE_NOT_STARTED("resolve NOT_STARTED"),
    CANCEL("cancel"),
    CANCEL_OLD("cancel, older than the horizon"),
    CANCEL_OTHER_PRINCIPAL("cancel, other principal"),
    UNDO_ASKED("undo asked"),
    UNDO_ASKED_OTHER_PRINCIPAL("undo asked, other principal"),
    UNDO_GIVEN_UP("undo given up"),
    DEADLINE("deadline");

    private final String label;

    Column(String label) {
      this.label = label;
    }

    /** The name of the column in the table. */
    public String label() {
      return label;
    }
  }

  /**
   * One cell.
   *
   * @param before the state that the event meets, as it is stored
   * @param lapsed verdicts on deadlines that had passed before the event
   * @param command whether an attempt or a read leaves
   * @param statusRead whether the remote is asked
   * @param alarm whether a person should look
   */
  public record Cell(
      Row row,
      Column column,
      StateName before,
      Verdict verdict,
      List<Verdict> lapsed,
      StateName next,
      boolean command,
      boolean statusRead,
      boolean alarm) {
    public Cell {
      lapsed = List.copyOf(lapsed);
    }

    /** The name of the cell: state and event. */
    public String name() {
      return row.label() + " x " + column.label();
    }
  }

  /** Every cell, row by row. */
  public static List<Cell> cells() {
    List<Cell> cells = new ArrayList<>();
    for (Row row : Row.values()) {
      for (Column column : Column.values()) {
        cells.add(cell(row, column));
      }
    }
    return List.copyOf(cells);
  }

  /** A change of state, and the verdict that it came with. */
  public record Change(StateName before, Verdict verdict, StateName next) {}

  /**
   * Every change of state: those of the table, those that time alone brings to each row a day
   * later, and those of an operation that was cancelled while an attempt could act.
   */
  public static List<Change> changes() {
    List<Change> changes = new ArrayList<>();
    for (Cell cell : cells()) {
      if (cell.lapsed().isEmpty()) {
        changes.add(new Change(cell.before(), cell.verdict(), cell.next()));
      }
    }
    for (Row row : Row.values()) {
      Scene later = scene(row).pass(Duration.ofDays(1));
      changes.add(change(later, Column.DEADLINE));
    }
    for (Row row : List.of(Row.IN_PROGRESS, Row.UNKNOWN)) {
      changes.add(change(scene(row).then(Column.CANCEL), Column.RESULT_FAILED_RETRYABLE));
    }
    changes.removeIf(change -> change.before() == change.next());
    return List.copyOf(changes);
  }

  private static Change change(Scene scene, Column column) {
    Decision d = OperationStateMachine.decide(scene.state, event(column, scene.now), scene.policy);
    return new Change(scene.state.name(), d.verdict(), d.next().name());
  }

  /** What is decided when the event meets the state. */
  public static Cell cell(Row row, Column column) {
    Scene scene = scene(row);
    Decision d = OperationStateMachine.decide(scene.state, event(column, scene.now), scene.policy);
    List<Verdict> lapsed = new ArrayList<>();
    boolean alarm = false;
    for (Transition t : d.transitions()) {
      lapsed.add(t.verdict());
      alarm |= t.alarm();
    }
    if (!lapsed.isEmpty()) {
      // The last line is that of the event itself.
      lapsed.remove(lapsed.size() - 1);
    }
    return new Cell(
        row,
        column,
        scene.state.name(),
        d.verdict(),
        lapsed,
        d.next().name(),
        d.effects().stream().anyMatch(DispatchCommand.class::isInstance),
        d.effects().stream().anyMatch(RequestReconciliation.class::isInstance),
        alarm);
  }

  /** A state with its moment and policy, on the way to a row. */
  private static final class Scene {
    private final ActionPolicy policy;
    private OperationState state = Absent.NOTHING;
    private Instant now = START;

    Scene(ActionPolicy policy) {
      this.policy = policy;
    }

    Scene then(Column column) {
      state = OperationStateMachine.decide(state, event(column, now), policy).next();
      return this;
    }

    Scene pass(Duration time) {
      now = now.plus(time);
      return this;
    }

    Scene passUntil(Instant time) {
      now = time;
      return this;
    }

    /** The second attempt runs; the first provably did not start. */
    Scene running() {
      then(Column.INTENT).then(Column.RESULT_FAILED_RETRYABLE);
      return retryDue().then(Column.DEADLINE);
    }

    Scene retryDue() {
      Instant due =
          switch (state) {
            case FailedRetryable s -> s.retryAt();
            case UnknownReconciliation s -> s.reclaimAt();
            case Absent s -> now;
            case OperationState.InProgress s -> now;
            case OperationState.Succeeded s -> now;
            case OperationState.FailedTerminal s -> now;
            case OperationState.Expired s -> now;
            case OperationState.Cancelled s -> now;
          };
      return passUntil(due);
    }
  }

  private static Scene scene(Row row) {
    Duration day = Duration.ofDays(1);
    return switch (row) {
      case ABSENT -> new Scene(holding(STANDARD));
      case ABSENT_WITH_EVIDENCE -> new Scene(holding(STANDARD)).then(Column.RESULT_SUCCEEDED);
      case IN_PROGRESS -> new Scene(STANDARD).running();
      case IN_PROGRESS_LEASE_OVER -> new Scene(STANDARD).running().pass(STANDARD.lease());
      case IN_PROGRESS_UNPROVEN -> runningAfterUnknown();
      case UNKNOWN ->
          new Scene(STANDARD).running().then(Column.RESULT_UNKNOWN).pass(Duration.ofSeconds(1));
      case UNKNOWN_COVERED ->
          new Scene(deduping(STANDARD)).running().then(Column.RESULT_UNKNOWN).retryDue();
      case UNKNOWN_EARLIER -> runningAfterUnknown().then(Column.RESULT_FAILED_RETRYABLE);
      case FAILED_RETRYABLE_EARLY ->
          new Scene(STANDARD).running().then(Column.RESULT_FAILED_RETRYABLE);
      case FAILED_RETRYABLE ->
          new Scene(STANDARD).running().then(Column.RESULT_FAILED_RETRYABLE).retryDue();
      case FAILED_RETRYABLE_STUCK ->
          new Scene(attempts(STANDARD, 2))
              .running()
              .then(Column.RESULT_FAILED_RETRYABLE)
              .retryDue();
      case SUCCEEDED -> new Scene(STANDARD).running().then(Column.RESULT_SUCCEEDED);
      case SUCCEEDED_RETENTION_OVER ->
          new Scene(STANDARD).running().then(Column.RESULT_SUCCEEDED).pass(day);
      case FAILED_TERMINAL -> new Scene(STANDARD).running().then(Column.RESULT_FAILED_TERMINAL);
      case EXPIRED ->
          new Scene(STANDARD)
              .running()
              .then(Column.RESULT_SUCCEEDED)
              .pass(day)
              .then(Column.DEADLINE);
      case EXPIRED_TOMBSTONE_OVER ->
          new Scene(STANDARD)
              .running()
              .then(Column.RESULT_SUCCEEDED)
              .pass(day)
              .then(Column.DEADLINE)
              .pass(STANDARD.horizon());
      case CANCELLED ->
          new Scene(STANDARD).running().then(Column.RESULT_FAILED_RETRYABLE).then(Column.CANCEL);
    };
  }

  /** The second attempt runs under the remote's dedupe; what the first did is unknown. */
  private static Scene runningAfterUnknown() {
    return new Scene(deduping(STANDARD))
        .then(Column.INTENT)
        .then(Column.RESULT_UNKNOWN)
        .retryDue()
        .then(Column.DEADLINE);
  }

  private static OperationEvent event(Column column, Instant now) {
    return switch (column) {
      case INTENT_MALFORMED ->
          intent(now, OWNER, "f", now, RefusalCode.ARGUMENTS_NOT_JSON.because("it ended early"));
      case INTENT_NOT_PERMITTED -> notPermitted(now);
      case INTENT_READ -> read(now);
      case INTENT_OLD -> intent(now, OWNER, "f", now.minus(STANDARD.horizon()), null);
      case INTENT_OTHER_PRINCIPAL -> intent(now, OTHER, "f", now, null);
      case INTENT_OTHER_FINGERPRINT -> intent(now, OWNER, "g", now, null);
      case INTENT_SUSPECT -> suspect(now);
      case INTENT -> intent(now, OWNER, "f", now, null);
      case INTENT_UNDOES -> undoing(now, null);
      case INTENT_UNDOES_GRANTED -> undoing(now, OriginalStanding.GRANTED);
      case INTENT_UNDOES_OPEN -> undoing(now, OriginalStanding.IN_PROGRESS);
      case RESULT_SUCCEEDED -> result(now, null, AttemptOutcome.SUCCEEDED);
      case RESULT_FAILED_RETRYABLE -> result(now, null, AttemptOutcome.FAILED_RETRYABLE);
      case RESULT_FAILED_TERMINAL -> result(now, null, AttemptOutcome.FAILED_TERMINAL);
      case RESULT_UNKNOWN -> result(now, null, AttemptOutcome.UNKNOWN);
      case EARLIER_SUCCEEDED -> result(now, 1, AttemptOutcome.SUCCEEDED);
      case EARLIER_NO_SUCCESS -> result(now, 1, AttemptOutcome.FAILED_TERMINAL);
      case READ_REPORT ->
          new ReadReported(
              KEY.tenant(),
              KEY.scope(),
              KEY.operationId(),
              "d-read",
              OWNER,
              now,
              "r-read",
              true,
              Answer.NONE);
      case RECONCILE_COMMITTED -> reconcile(now, Found.COMMITTED);
      case RECONCILE_ABSENT -> reconcile(now, Found.ABSENT);
      case RECONCILE_UNKNOWN -> reconcile(now, Found.UNKNOWN);
      case RESOLVE_SUCCEEDED -> resolve(now, ResolvedAs.SUCCEEDED);
      case RESOLVE_FAILED_TERMINAL -> resolve(now, ResolvedAs.FAILED_TERMINAL);
      case RESOLVE_NOT_STARTED -> resolve(now, ResolvedAs.NOT_STARTED);
      case CANCEL -> cancel(now, OWNER, now);
      case CANCEL_OLD -> cancel(now, OWNER, now.minus(STANDARD.horizon()));
      case CANCEL_OTHER_PRINCIPAL -> cancel(now, OTHER, now);
      case UNDO_ASKED -> new CompensationAsked(KEY, now, OTHER_OPERATION, "d-undo", OWNER);
      case UNDO_ASKED_OTHER_PRINCIPAL ->
          new CompensationAsked(KEY, now, OTHER_OPERATION, "d-undo", OTHER);
      case UNDO_GIVEN_UP -> new CompensationReleased(KEY, now, OTHER_OPERATION);
      case DEADLINE -> new DeadlineReached(KEY, now, RetryBudget.full(now));
    };
  }

  private static Intent write(Principal principal, Instant issuedAt) {
    return asking(STANDARD.name(), principal, issuedAt, null);
  }

  private static Intent asking(
      String action, Principal principal, Instant issuedAt, @Nullable String compensates) {
    return new Intent(
        KEY.tenant(),
        KEY.scope(),
        KEY.operationId(),
        "d-" + principal,
        principal,
        action,
        null,
        "acct:1",
        "{}",
        null,
        null,
        issuedAt,
        null,
        null,
        compensates);
  }

  private static IntentReceived undoing(Instant now, @Nullable OriginalStanding original) {
    return new IntentReceived(
        asking(STANDARD.name(), OWNER, now, OTHER_OPERATION),
        now,
        null,
        true,
        Terms.of(STANDARD),
        fingerprint("f"),
        RetryBudget.full(now),
        null,
        original);
  }

  private static IntentReceived intent(
      Instant now,
      Principal principal,
      String meaning,
      Instant issuedAt,
      @Nullable Refusal refusal) {
    return new IntentReceived(
        write(principal, issuedAt),
        now,
        refusal,
        true,
        Terms.of(STANDARD),
        fingerprint(meaning),
        RetryBudget.full(now),
        null);
  }

  private static IntentReceived notPermitted(Instant now) {
    return new IntentReceived(
        write(OWNER, now),
        now,
        null,
        false,
        Terms.of(STANDARD),
        fingerprint("f"),
        RetryBudget.full(now),
        null);
  }

  private static IntentReceived read(Instant now) {
    return new IntentReceived(
        asking("kb.search", OWNER, now, null),
        now,
        null,
        true,
        READ,
        null,
        RetryBudget.full(now),
        null);
  }

  private static IntentReceived suspect(Instant now) {
    return new IntentReceived(
        write(OWNER, now),
        now,
        null,
        true,
        Terms.of(STANDARD),
        fingerprint("f"),
        RetryBudget.full(now),
        OTHER_OPERATION);
  }

  private static Fingerprint fingerprint(String meaning) {
    TreeMap<String, String> members = new TreeMap<>();
    members.put("target", meaning);
    return new Fingerprint(1, meaning, members);
  }

  private static ResultReported result(
      Instant now, @Nullable Integer attempt, AttemptOutcome outcome) {
    return new ResultReported(
        KEY,
        now,
        "r-" + now + outcome,
        attempt,
        outcome,
        Answer.of("ref-" + now + attempt, null),
        null);
  }

  private static ReconciliationReported reconcile(Instant now, Found found) {
    return new ReconciliationReported(
        KEY, now, "c-" + now + found, null, found, Answer.of("ref-c", null), now);
  }

  private static ResolutionReceived resolve(Instant now, ResolvedAs as) {
    return new ResolutionReceived(
        KEY, now, "s-" + now + as, null, as, "person:p", "seen", true, Answer.of("ref-s", null));
  }

  private static CancelReceived cancel(Instant now, Principal principal, Instant issuedAt) {
    return new CancelReceived(
        KEY.tenant(),
        KEY.scope(),
        KEY.operationId(),
        now,
        principal,
        "d-cancel",
        issuedAt,
        STANDARD.horizon(),
        STANDARD.clockSkew(),
        null,
        true);
  }

  private static ActionPolicy holding(ActionPolicy p) {
    return changed(p, Remint.HOLD, p.retry(), p.remote());
  }

  private static ActionPolicy deduping(ActionPolicy p) {
    Remote r = p.remote();
    return changed(
        p,
        p.remint(),
        p.retry(),
        new Remote(
            r.keyLimit(),
            true,
            Duration.ofDays(1),
            DedupeAnchor.FIRST_REQUEST,
            r.statusRead(),
            r.absentAfter()));
  }

  private static ActionPolicy attempts(ActionPolicy p, int most) {
    Retry r = p.retry();
    return changed(
        p, p.remint(), new Retry(r.auto(), most, r.initial(), r.max(), r.budget()), p.remote());
  }

  private static ActionPolicy changed(ActionPolicy p, Remint remint, Retry retry, Remote remote) {
    return new ActionPolicy(
        p.name(),
        p.effect(),
        p.scope(),
        p.volatileMembers(),
        p.lease(),
        p.retention(),
        p.tombstone(),
        p.clockSkew(),
        p.retryHorizon(),
        p.share(),
        remint,
        p.remintWindow(),
        p.schema(),
        p.authorize(),
        retry,
        remote);
  }
}
