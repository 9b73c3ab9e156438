package dev.ichido.topology;

/**
 * Names of nodes and stores. They are wire format: changelog topics are named after the stores and
 * offsets hang on them, so a renaming is a migration.
 */
public final class NodeNames {
  public static final String INTENTS = "intents";
  public static final String RESULTS = "results";
  public static final String OPERATIONS = "operations";
  public static final String COMMANDS = "commands";
  public static final String REPLIES = "replies";
  public static final String JOURNAL = "journal";
  public static final String DEAD_LETTERS = "dead-letters";

  /** Record key to operation. */
  public static final String LEDGER_STORE = "ledger";

  /** (due time, record key) of the next deadline of each operation that has one. */
  public static final String DEADLINE_STORE = "deadlines";

  /** Tenant and action to what is left of their retry budget on this partition. */
  public static final String BUDGET_STORE = "retry-budgets";

  /** Tenant, action and fingerprint to the operations that carry that meaning. */
  public static final String SUSPECT_STORE = "suspects";

  /** Sends intents of actions with {@code remint: hold} past the index of meanings. */
  public static final String GATE = "gate";

  /** The index of meanings, and the stem of the internal topic that leads to it. */
  public static final String SUSPECTS = "suspects";

  /** Stem of the internal topic that leads back from the index to the operations. */
  public static final String CHECKED_INTENTS = "checked-intents";

  /** Stem of the internal topic between an operation and the one that it would undo. */
  public static final String COMPENSATIONS = "compensations";

  public static final String COMPENSATION_MAIL = "compensation-mail";
  public static final String SUSPECT_NEWS = "suspect-news";
  public static final String SUSPECT_JOURNAL = "suspect-journal";

  private NodeNames() {}
}
