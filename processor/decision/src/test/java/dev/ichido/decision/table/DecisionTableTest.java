package dev.ichido.decision.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.decision.table.DecisionTable.Column;
import dev.ichido.decision.table.DecisionTable.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The whole table, written down by hand: verdict (after what had lapsed), state that follows, what
 * leaves, and whether there is an alarm. What the cells mean in full is in the tests of the rules.
 */
class DecisionTableTest {

  @Test
  @Cell("ABSENT x *")
  void absent() {
    check(
        Row.ABSENT,
        """
        intent, malformed              | INVALID | ABSENT | -
        intent, not permitted          | UNAUTHORIZED | ABSENT | -
        intent, read                   | PASSED_THROUGH | ABSENT | command
        intent, older than the horizon | LATE_REPLAY | ABSENT | -
        intent, other principal        | CLAIMED | IN_PROGRESS | command
        intent, other fingerprint      | CLAIMED | IN_PROGRESS | command
        intent, suspected twin         | HELD_SUSPECT | ABSENT | -
        intent, same fingerprint       | CLAIMED | IN_PROGRESS | command
        intent, undoes another         | NOTHING_DUE | ABSENT | -
        intent, undoes, granted        | CLAIMED | IN_PROGRESS | command
        intent, undoes, original open  | RETRY_LATER | ABSENT | -
        result SUCCEEDED               | ORPHAN_RESULT | ABSENT | alarm
        result FAILED_RETRYABLE        | ORPHAN_RESULT | ABSENT | -
        result FAILED_TERMINAL         | ORPHAN_RESULT | ABSENT | -
        result UNKNOWN                 | ORPHAN_RESULT | ABSENT | -
        earlier attempt SUCCEEDED      | ORPHAN_RESULT | ABSENT | alarm
        earlier attempt, no success    | ORPHAN_RESULT | ABSENT | -
        read report                    | PASSED_THROUGH | ABSENT | -
        reconcile COMMITTED            | ORPHAN_RESULT | ABSENT | alarm
        reconcile ABSENT               | ORPHAN_RESULT | ABSENT | -
        reconcile UNKNOWN              | ORPHAN_RESULT | ABSENT | -
        resolve SUCCEEDED              | INVALID | ABSENT | -
        resolve FAILED_TERMINAL        | INVALID | ABSENT | -
        resolve NOT_STARTED            | INVALID | ABSENT | -
        cancel                         | CANCELLED | CANCELLED | -
        cancel, older than the horizon | LATE_REPLAY | ABSENT | -
        cancel, other principal        | CANCELLED | CANCELLED | -
        undo asked                     | NOTHING_DUE | ABSENT | -
        undo asked, other principal    | NOTHING_DUE | ABSENT | -
        undo given up                  | NOTHING_DUE | ABSENT | -
        deadline                       | NOTHING_DUE | ABSENT | -
        """);
  }

  @Test
  @Cell("ABSENT with evidence x *")
  void absentWithEvidence() {
    check(
        Row.ABSENT_WITH_EVIDENCE,
        """
        intent, malformed              | INVALID | ABSENT | -
        intent, not permitted          | UNAUTHORIZED | ABSENT | -
        intent, read                   | PASSED_THROUGH | ABSENT | command
        intent, older than the horizon | LATE_REPLAY | ABSENT | -
        intent, other principal        | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, other fingerprint      | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, suspected twin         | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, same fingerprint       | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, undoes another         | NOTHING_DUE | ABSENT | -
        intent, undoes, granted        | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, undoes, original open  | RETRY_LATER | ABSENT | -
        result SUCCEEDED               | ORPHAN_RESULT | ABSENT | alarm
        result FAILED_RETRYABLE        | ORPHAN_RESULT | ABSENT | -
        result FAILED_TERMINAL         | ORPHAN_RESULT | ABSENT | -
        result UNKNOWN                 | ORPHAN_RESULT | ABSENT | -
        earlier attempt SUCCEEDED      | ORPHAN_RESULT | ABSENT | alarm
        earlier attempt, no success    | ORPHAN_RESULT | ABSENT | -
        read report                    | PASSED_THROUGH | ABSENT | -
        reconcile COMMITTED            | ORPHAN_RESULT | ABSENT | alarm
        reconcile ABSENT               | ORPHAN_RESULT | ABSENT | -
        reconcile UNKNOWN              | ORPHAN_RESULT | ABSENT | -
        resolve SUCCEEDED              | INVALID | ABSENT | -
        resolve FAILED_TERMINAL        | INVALID | ABSENT | -
        resolve NOT_STARTED            | INVALID | ABSENT | -
        cancel                         | HELD_UNKNOWN | ABSENT | alarm
        cancel, older than the horizon | LATE_REPLAY | ABSENT | -
        cancel, other principal        | HELD_UNKNOWN | ABSENT | alarm
        undo asked                     | NOTHING_DUE | ABSENT | -
        undo asked, other principal    | NOTHING_DUE | ABSENT | -
        undo given up                  | NOTHING_DUE | ABSENT | -
        deadline                       | NOTHING_DUE | ABSENT | -
        """);
  }

  @Test
  @Cell("IN_PROGRESS x *")
  void inProgress() {
    check(
        Row.IN_PROGRESS,
        """
        intent, malformed              | INVALID | IN_PROGRESS | -
        intent, not permitted          | UNAUTHORIZED | IN_PROGRESS | -
        intent, read                   | PASSED_THROUGH | IN_PROGRESS | command
        intent, older than the horizon | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        intent, other principal        | UNAUTHORIZED | IN_PROGRESS | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        intent, suspected twin         | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        intent, same fingerprint       | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        intent, undoes another         | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        result SUCCEEDED               | SETTLED | SUCCEEDED | -
        result FAILED_RETRYABLE        | SETTLED | FAILED_RETRYABLE | -
        result FAILED_TERMINAL         | SETTLED | FAILED_TERMINAL | -
        result UNKNOWN                 | SETTLED | UNKNOWN_RECONCILIATION | status-read
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | IN_PROGRESS | -
        read report                    | PASSED_THROUGH | IN_PROGRESS | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | -
        reconcile ABSENT               | STALE_RESULT | IN_PROGRESS | -
        reconcile UNKNOWN              | STALE_RESULT | IN_PROGRESS | -
        resolve SUCCEEDED              | INVALID | IN_PROGRESS | -
        resolve FAILED_TERMINAL        | INVALID | IN_PROGRESS | -
        resolve NOT_STARTED            | INVALID | IN_PROGRESS | -
        cancel                         | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        cancel, older than the horizon | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        cancel, other principal        | UNAUTHORIZED | IN_PROGRESS | -
        undo asked                     | NOTHING_DUE | IN_PROGRESS | -
        undo asked, other principal    | NOTHING_DUE | IN_PROGRESS | -
        undo given up                  | NOTHING_DUE | IN_PROGRESS | -
        deadline                       | NOTHING_DUE | IN_PROGRESS | -
        """);
  }

  @Test
  @Cell("IN_PROGRESS, lease over x *")
  void inProgressLeaseOver() {
    check(
        Row.IN_PROGRESS_LEASE_OVER,
        """
        intent, malformed              | INVALID | IN_PROGRESS | -
        intent, not permitted          | UNAUTHORIZED | IN_PROGRESS | -
        intent, read                   | PASSED_THROUGH | IN_PROGRESS | command
        intent, older than the horizon | LEASE_EXPIRED, HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, other principal        | LEASE_EXPIRED, UNAUTHORIZED | UNKNOWN_RECONCILIATION | status-read
        intent, other fingerprint      | LEASE_EXPIRED, FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | status-read
        intent, suspected twin         | LEASE_EXPIRED, HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, same fingerprint       | LEASE_EXPIRED, HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        intent, undoes another         | LEASE_EXPIRED, FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | status-read
        intent, undoes, granted        | LEASE_EXPIRED, FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | status-read
        intent, undoes, original open  | LEASE_EXPIRED, FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | status-read
        result SUCCEEDED               | LEASE_EXPIRED, SETTLED | SUCCEEDED | -
        result FAILED_RETRYABLE        | LEASE_EXPIRED, SETTLED | FAILED_RETRYABLE | -
        result FAILED_TERMINAL         | LEASE_EXPIRED, SETTLED | FAILED_TERMINAL | -
        result UNKNOWN                 | LEASE_EXPIRED, STILL_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        earlier attempt SUCCEEDED      | LEASE_EXPIRED, LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | LEASE_EXPIRED, STALE_RESULT | UNKNOWN_RECONCILIATION | status-read
        read report                    | PASSED_THROUGH | IN_PROGRESS | -
        reconcile COMMITTED            | LEASE_EXPIRED, RECONCILED | SUCCEEDED | -
        reconcile ABSENT               | LEASE_EXPIRED, STILL_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        reconcile UNKNOWN              | LEASE_EXPIRED, STILL_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        resolve SUCCEEDED              | LEASE_EXPIRED, RESOLVED | SUCCEEDED | -
        resolve FAILED_TERMINAL        | LEASE_EXPIRED, RESOLVED | FAILED_TERMINAL | -
        resolve NOT_STARTED            | LEASE_EXPIRED, RESOLVED | FAILED_RETRYABLE | -
        cancel                         | LEASE_EXPIRED, HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        cancel, older than the horizon | LEASE_EXPIRED, HELD_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        cancel, other principal        | LEASE_EXPIRED, UNAUTHORIZED | UNKNOWN_RECONCILIATION | status-read
        undo asked                     | LEASE_EXPIRED | UNKNOWN_RECONCILIATION | status-read
        undo asked, other principal    | LEASE_EXPIRED | UNKNOWN_RECONCILIATION | status-read
        undo given up                  | LEASE_EXPIRED | UNKNOWN_RECONCILIATION | status-read
        deadline                       | LEASE_EXPIRED | UNKNOWN_RECONCILIATION | status-read
        """);
  }

  @Test
  @Cell("IN_PROGRESS, earlier attempt unproven x *")
  void inProgressUnproven() {
    check(
        Row.IN_PROGRESS_UNPROVEN,
        """
        intent, malformed              | INVALID | IN_PROGRESS | -
        intent, not permitted          | UNAUTHORIZED | IN_PROGRESS | -
        intent, read                   | PASSED_THROUGH | IN_PROGRESS | command
        intent, older than the horizon | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        intent, other principal        | UNAUTHORIZED | IN_PROGRESS | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        intent, suspected twin         | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        intent, same fingerprint       | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        intent, undoes another         | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | IN_PROGRESS | -
        result SUCCEEDED               | SETTLED | SUCCEEDED | -
        result FAILED_RETRYABLE        | SETTLED | UNKNOWN_RECONCILIATION | status-read
        result FAILED_TERMINAL         | SETTLED | UNKNOWN_RECONCILIATION | status-read
        result UNKNOWN                 | SETTLED | UNKNOWN_RECONCILIATION | status-read
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | IN_PROGRESS | -
        read report                    | PASSED_THROUGH | IN_PROGRESS | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | -
        reconcile ABSENT               | STALE_RESULT | IN_PROGRESS | -
        reconcile UNKNOWN              | STALE_RESULT | IN_PROGRESS | -
        resolve SUCCEEDED              | INVALID | IN_PROGRESS | -
        resolve FAILED_TERMINAL        | INVALID | IN_PROGRESS | -
        resolve NOT_STARTED            | INVALID | IN_PROGRESS | -
        cancel                         | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        cancel, older than the horizon | DUPLICATE_IN_PROGRESS | IN_PROGRESS | -
        cancel, other principal        | UNAUTHORIZED | IN_PROGRESS | -
        undo asked                     | NOTHING_DUE | IN_PROGRESS | -
        undo asked, other principal    | NOTHING_DUE | IN_PROGRESS | -
        undo given up                  | NOTHING_DUE | IN_PROGRESS | -
        deadline                       | NOTHING_DUE | IN_PROGRESS | -
        """);
  }

  @Test
  @Cell("UNKNOWN_RECONCILIATION x *")
  void unknown() {
    check(
        Row.UNKNOWN,
        """
        intent, malformed              | INVALID | UNKNOWN_RECONCILIATION | -
        intent, not permitted          | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        intent, read                   | PASSED_THROUGH | UNKNOWN_RECONCILIATION | command
        intent, older than the horizon | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        intent, other principal        | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, suspected twin         | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        intent, same fingerprint       | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        intent, undoes another         | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        result SUCCEEDED               | SETTLED | SUCCEEDED | -
        result FAILED_RETRYABLE        | SETTLED | FAILED_RETRYABLE | -
        result FAILED_TERMINAL         | SETTLED | FAILED_TERMINAL | -
        result UNKNOWN                 | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | UNKNOWN_RECONCILIATION | -
        read report                    | PASSED_THROUGH | UNKNOWN_RECONCILIATION | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | -
        reconcile ABSENT               | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        reconcile UNKNOWN              | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        resolve SUCCEEDED              | RESOLVED | SUCCEEDED | -
        resolve FAILED_TERMINAL        | RESOLVED | FAILED_TERMINAL | -
        resolve NOT_STARTED            | RESOLVED | FAILED_RETRYABLE | -
        cancel                         | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        cancel, older than the horizon | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        cancel, other principal        | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        undo asked                     | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        undo asked, other principal    | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        undo given up                  | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        deadline                       | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | status-read
        """);
  }

  @Test
  @Cell("UNKNOWN_RECONCILIATION, dedupe window open x *")
  void unknownCovered() {
    check(
        Row.UNKNOWN_COVERED,
        """
        intent, malformed              | INVALID | UNKNOWN_RECONCILIATION | -
        intent, not permitted          | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        intent, read                   | PASSED_THROUGH | UNKNOWN_RECONCILIATION | command
        intent, older than the horizon | RECLAIMED | IN_PROGRESS | command
        intent, other principal        | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, suspected twin         | RECLAIMED | IN_PROGRESS | command
        intent, same fingerprint       | RECLAIMED | IN_PROGRESS | command
        intent, undoes another         | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        result SUCCEEDED               | SETTLED | SUCCEEDED | -
        result FAILED_RETRYABLE        | SETTLED | FAILED_RETRYABLE | -
        result FAILED_TERMINAL         | SETTLED | FAILED_TERMINAL | -
        result UNKNOWN                 | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | UNKNOWN_RECONCILIATION | -
        read report                    | PASSED_THROUGH | UNKNOWN_RECONCILIATION | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | -
        reconcile ABSENT               | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        reconcile UNKNOWN              | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        resolve SUCCEEDED              | RESOLVED | SUCCEEDED | -
        resolve FAILED_TERMINAL        | RESOLVED | FAILED_TERMINAL | -
        resolve NOT_STARTED            | RESOLVED | FAILED_RETRYABLE | -
        cancel                         | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        cancel, older than the horizon | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        cancel, other principal        | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        undo asked                     | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        undo asked, other principal    | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        undo given up                  | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        deadline                       | RECLAIMED | IN_PROGRESS | command
        """);
  }

  @Test
  @Cell("UNKNOWN_RECONCILIATION, only an earlier attempt unproven x *")
  void unknownEarlier() {
    check(
        Row.UNKNOWN_EARLIER,
        """
        intent, malformed              | INVALID | UNKNOWN_RECONCILIATION | -
        intent, not permitted          | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        intent, read                   | PASSED_THROUGH | UNKNOWN_RECONCILIATION | command
        intent, older than the horizon | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        intent, other principal        | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, suspected twin         | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        intent, same fingerprint       | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        intent, undoes another         | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | UNKNOWN_RECONCILIATION | -
        result SUCCEEDED               | SETTLED | SUCCEEDED | -
        result FAILED_RETRYABLE        | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        result FAILED_TERMINAL         | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        result UNKNOWN                 | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | SETTLED | FAILED_TERMINAL | -
        read report                    | PASSED_THROUGH | UNKNOWN_RECONCILIATION | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | -
        reconcile ABSENT               | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        reconcile UNKNOWN              | STILL_UNKNOWN | UNKNOWN_RECONCILIATION | -
        resolve SUCCEEDED              | RESOLVED | SUCCEEDED | -
        resolve FAILED_TERMINAL        | RESOLVED | FAILED_TERMINAL | -
        resolve NOT_STARTED            | RESOLVED | FAILED_RETRYABLE | -
        cancel                         | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        cancel, older than the horizon | HELD_UNKNOWN | UNKNOWN_RECONCILIATION | -
        cancel, other principal        | UNAUTHORIZED | UNKNOWN_RECONCILIATION | -
        undo asked                     | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        undo asked, other principal    | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        undo given up                  | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        deadline                       | NOTHING_DUE | UNKNOWN_RECONCILIATION | -
        """);
  }

  @Test
  @Cell("FAILED_RETRYABLE, before its time x *")
  void failedRetryableEarly() {
    check(
        Row.FAILED_RETRYABLE_EARLY,
        """
        intent, malformed              | INVALID | FAILED_RETRYABLE | -
        intent, not permitted          | UNAUTHORIZED | FAILED_RETRYABLE | -
        intent, read                   | PASSED_THROUGH | FAILED_RETRYABLE | command
        intent, older than the horizon | RETRY_LATER | FAILED_RETRYABLE | -
        intent, other principal        | UNAUTHORIZED | FAILED_RETRYABLE | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, suspected twin         | RETRY_LATER | FAILED_RETRYABLE | -
        intent, same fingerprint       | RETRY_LATER | FAILED_RETRYABLE | -
        intent, undoes another         | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        result SUCCEEDED               | LATE_SUCCESS | SUCCEEDED | alarm
        result FAILED_RETRYABLE        | DUPLICATE_RESULT | FAILED_RETRYABLE | -
        result FAILED_TERMINAL         | STALE_RESULT | FAILED_RETRYABLE | -
        result UNKNOWN                 | SETTLED | UNKNOWN_RECONCILIATION | status-read
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | FAILED_RETRYABLE | -
        read report                    | PASSED_THROUGH | FAILED_RETRYABLE | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | alarm
        reconcile ABSENT               | STALE_RESULT | FAILED_RETRYABLE | -
        reconcile UNKNOWN              | STALE_RESULT | FAILED_RETRYABLE | -
        resolve SUCCEEDED              | INVALID | FAILED_RETRYABLE | -
        resolve FAILED_TERMINAL        | INVALID | FAILED_RETRYABLE | -
        resolve NOT_STARTED            | INVALID | FAILED_RETRYABLE | -
        cancel                         | CANCELLED | CANCELLED | -
        cancel, older than the horizon | CANCELLED | CANCELLED | -
        cancel, other principal        | UNAUTHORIZED | FAILED_RETRYABLE | -
        undo asked                     | NOTHING_DUE | FAILED_RETRYABLE | -
        undo asked, other principal    | NOTHING_DUE | FAILED_RETRYABLE | -
        undo given up                  | NOTHING_DUE | FAILED_RETRYABLE | -
        deadline                       | NOTHING_DUE | FAILED_RETRYABLE | -
        """);
  }

  @Test
  @Cell("FAILED_RETRYABLE x *")
  void failedRetryable() {
    check(
        Row.FAILED_RETRYABLE,
        """
        intent, malformed              | INVALID | FAILED_RETRYABLE | -
        intent, not permitted          | UNAUTHORIZED | FAILED_RETRYABLE | -
        intent, read                   | PASSED_THROUGH | FAILED_RETRYABLE | command
        intent, older than the horizon | RECLAIMED | IN_PROGRESS | command
        intent, other principal        | UNAUTHORIZED | FAILED_RETRYABLE | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, suspected twin         | RECLAIMED | IN_PROGRESS | command
        intent, same fingerprint       | RECLAIMED | IN_PROGRESS | command
        intent, undoes another         | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        result SUCCEEDED               | LATE_SUCCESS | SUCCEEDED | alarm
        result FAILED_RETRYABLE        | DUPLICATE_RESULT | FAILED_RETRYABLE | -
        result FAILED_TERMINAL         | STALE_RESULT | FAILED_RETRYABLE | -
        result UNKNOWN                 | SETTLED | UNKNOWN_RECONCILIATION | status-read
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | FAILED_RETRYABLE | -
        read report                    | PASSED_THROUGH | FAILED_RETRYABLE | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | alarm
        reconcile ABSENT               | STALE_RESULT | FAILED_RETRYABLE | -
        reconcile UNKNOWN              | STALE_RESULT | FAILED_RETRYABLE | -
        resolve SUCCEEDED              | INVALID | FAILED_RETRYABLE | -
        resolve FAILED_TERMINAL        | INVALID | FAILED_RETRYABLE | -
        resolve NOT_STARTED            | INVALID | FAILED_RETRYABLE | -
        cancel                         | CANCELLED | CANCELLED | -
        cancel, older than the horizon | CANCELLED | CANCELLED | -
        cancel, other principal        | UNAUTHORIZED | FAILED_RETRYABLE | -
        undo asked                     | NOTHING_DUE | FAILED_RETRYABLE | -
        undo asked, other principal    | NOTHING_DUE | FAILED_RETRYABLE | -
        undo given up                  | NOTHING_DUE | FAILED_RETRYABLE | -
        deadline                       | RECLAIMED | IN_PROGRESS | command
        """);
  }

  @Test
  @Cell("FAILED_RETRYABLE, stuck x *")
  void failedRetryableStuck() {
    check(
        Row.FAILED_RETRYABLE_STUCK,
        """
        intent, malformed              | INVALID | FAILED_RETRYABLE | -
        intent, not permitted          | UNAUTHORIZED | FAILED_RETRYABLE | -
        intent, read                   | PASSED_THROUGH | FAILED_RETRYABLE | command
        intent, older than the horizon | RETRY_LATER | FAILED_RETRYABLE | -
        intent, other principal        | UNAUTHORIZED | FAILED_RETRYABLE | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, suspected twin         | RETRY_LATER | FAILED_RETRYABLE | -
        intent, same fingerprint       | RETRY_LATER | FAILED_RETRYABLE | -
        intent, undoes another         | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | FAILED_RETRYABLE | -
        result SUCCEEDED               | LATE_SUCCESS | SUCCEEDED | alarm
        result FAILED_RETRYABLE        | DUPLICATE_RESULT | FAILED_RETRYABLE | -
        result FAILED_TERMINAL         | STALE_RESULT | FAILED_RETRYABLE | -
        result UNKNOWN                 | SETTLED | UNKNOWN_RECONCILIATION | status-read
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | FAILED_RETRYABLE | -
        read report                    | PASSED_THROUGH | FAILED_RETRYABLE | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | alarm
        reconcile ABSENT               | STALE_RESULT | FAILED_RETRYABLE | -
        reconcile UNKNOWN              | STALE_RESULT | FAILED_RETRYABLE | -
        resolve SUCCEEDED              | RESOLVED | SUCCEEDED | -
        resolve FAILED_TERMINAL        | RESOLVED | FAILED_TERMINAL | -
        resolve NOT_STARTED            | RESOLVED | FAILED_RETRYABLE | -
        cancel                         | CANCELLED | CANCELLED | -
        cancel, older than the horizon | CANCELLED | CANCELLED | -
        cancel, other principal        | UNAUTHORIZED | FAILED_RETRYABLE | -
        undo asked                     | NOTHING_DUE | FAILED_RETRYABLE | -
        undo asked, other principal    | NOTHING_DUE | FAILED_RETRYABLE | -
        undo given up                  | NOTHING_DUE | FAILED_RETRYABLE | -
        deadline                       | NOTHING_DUE | FAILED_RETRYABLE | -
        """);
  }

  @Test
  @Cell("SUCCEEDED x *")
  void succeeded() {
    check(
        Row.SUCCEEDED,
        """
        intent, malformed              | INVALID | SUCCEEDED | -
        intent, not permitted          | UNAUTHORIZED | SUCCEEDED | -
        intent, read                   | PASSED_THROUGH | SUCCEEDED | command
        intent, older than the horizon | REPLAYED | SUCCEEDED | -
        intent, other principal        | UNAUTHORIZED | SUCCEEDED | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | SUCCEEDED | -
        intent, suspected twin         | REPLAYED | SUCCEEDED | -
        intent, same fingerprint       | REPLAYED | SUCCEEDED | -
        intent, undoes another         | FINGERPRINT_MISMATCH | SUCCEEDED | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | SUCCEEDED | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | SUCCEEDED | -
        result SUCCEEDED               | DUPLICATE_RESULT | SUCCEEDED | -
        result FAILED_RETRYABLE        | STALE_RESULT | SUCCEEDED | -
        result FAILED_TERMINAL         | STALE_RESULT | SUCCEEDED | -
        result UNKNOWN                 | STALE_RESULT | SUCCEEDED | -
        earlier attempt SUCCEEDED      | DUPLICATE_RESULT | SUCCEEDED | -
        earlier attempt, no success    | STALE_RESULT | SUCCEEDED | -
        read report                    | PASSED_THROUGH | SUCCEEDED | -
        reconcile COMMITTED            | SECOND_EFFECT | SUCCEEDED | alarm
        reconcile ABSENT               | STALE_RESULT | SUCCEEDED | -
        reconcile UNKNOWN              | STALE_RESULT | SUCCEEDED | -
        resolve SUCCEEDED              | INVALID | SUCCEEDED | -
        resolve FAILED_TERMINAL        | INVALID | SUCCEEDED | -
        resolve NOT_STARTED            | INVALID | SUCCEEDED | -
        cancel                         | REPLAYED | SUCCEEDED | -
        cancel, older than the horizon | REPLAYED | SUCCEEDED | -
        cancel, other principal        | UNAUTHORIZED | SUCCEEDED | -
        undo asked                     | COMPENSATION_GRANTED | SUCCEEDED | -
        undo asked, other principal    | NOTHING_DUE | SUCCEEDED | -
        undo given up                  | NOTHING_DUE | SUCCEEDED | -
        deadline                       | NOTHING_DUE | SUCCEEDED | -
        """);
  }

  @Test
  @Cell("SUCCEEDED, retention over x *")
  void succeededRetentionOver() {
    check(
        Row.SUCCEEDED_RETENTION_OVER,
        """
        intent, malformed              | INVALID | SUCCEEDED | -
        intent, not permitted          | UNAUTHORIZED | SUCCEEDED | -
        intent, read                   | PASSED_THROUGH | SUCCEEDED | command
        intent, older than the horizon | EXPIRED, EXPIRED | EXPIRED | -
        intent, other principal        | EXPIRED, UNAUTHORIZED | EXPIRED | -
        intent, other fingerprint      | EXPIRED, EXPIRED | EXPIRED | -
        intent, suspected twin         | EXPIRED, EXPIRED | EXPIRED | -
        intent, same fingerprint       | EXPIRED, EXPIRED | EXPIRED | -
        intent, undoes another         | EXPIRED, EXPIRED | EXPIRED | -
        intent, undoes, granted        | EXPIRED, EXPIRED | EXPIRED | -
        intent, undoes, original open  | EXPIRED, EXPIRED | EXPIRED | -
        result SUCCEEDED               | EXPIRED, LATE_SUCCESS | EXPIRED | alarm
        result FAILED_RETRYABLE        | EXPIRED, STALE_RESULT | EXPIRED | -
        result FAILED_TERMINAL         | EXPIRED, STALE_RESULT | EXPIRED | -
        result UNKNOWN                 | EXPIRED, STALE_RESULT | EXPIRED | -
        earlier attempt SUCCEEDED      | EXPIRED, LATE_SUCCESS | EXPIRED | alarm
        earlier attempt, no success    | EXPIRED, STALE_RESULT | EXPIRED | -
        read report                    | PASSED_THROUGH | SUCCEEDED | -
        reconcile COMMITTED            | EXPIRED, LATE_SUCCESS | EXPIRED | alarm
        reconcile ABSENT               | EXPIRED, STALE_RESULT | EXPIRED | -
        reconcile UNKNOWN              | EXPIRED, STALE_RESULT | EXPIRED | -
        resolve SUCCEEDED              | EXPIRED, INVALID | EXPIRED | -
        resolve FAILED_TERMINAL        | EXPIRED, INVALID | EXPIRED | -
        resolve NOT_STARTED            | EXPIRED, INVALID | EXPIRED | -
        cancel                         | EXPIRED, EXPIRED | EXPIRED | -
        cancel, older than the horizon | EXPIRED, EXPIRED | EXPIRED | -
        cancel, other principal        | EXPIRED, UNAUTHORIZED | EXPIRED | -
        undo asked                     | EXPIRED, COMPENSATION_GRANTED | EXPIRED | -
        undo asked, other principal    | EXPIRED | EXPIRED | -
        undo given up                  | EXPIRED | EXPIRED | -
        deadline                       | EXPIRED | EXPIRED | -
        """);
  }

  @Test
  @Cell("FAILED_TERMINAL x *")
  void failedTerminal() {
    check(
        Row.FAILED_TERMINAL,
        """
        intent, malformed              | INVALID | FAILED_TERMINAL | -
        intent, not permitted          | UNAUTHORIZED | FAILED_TERMINAL | -
        intent, read                   | PASSED_THROUGH | FAILED_TERMINAL | command
        intent, older than the horizon | REPLAYED | FAILED_TERMINAL | -
        intent, other principal        | UNAUTHORIZED | FAILED_TERMINAL | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | FAILED_TERMINAL | -
        intent, suspected twin         | REPLAYED | FAILED_TERMINAL | -
        intent, same fingerprint       | REPLAYED | FAILED_TERMINAL | -
        intent, undoes another         | FINGERPRINT_MISMATCH | FAILED_TERMINAL | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | FAILED_TERMINAL | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | FAILED_TERMINAL | -
        result SUCCEEDED               | LATE_SUCCESS | SUCCEEDED | alarm
        result FAILED_RETRYABLE        | STALE_RESULT | FAILED_TERMINAL | -
        result FAILED_TERMINAL         | DUPLICATE_RESULT | FAILED_TERMINAL | -
        result UNKNOWN                 | STALE_RESULT | FAILED_TERMINAL | -
        earlier attempt SUCCEEDED      | LATE_SUCCESS | SUCCEEDED | alarm
        earlier attempt, no success    | STALE_RESULT | FAILED_TERMINAL | -
        read report                    | PASSED_THROUGH | FAILED_TERMINAL | -
        reconcile COMMITTED            | RECONCILED | SUCCEEDED | alarm
        reconcile ABSENT               | STALE_RESULT | FAILED_TERMINAL | -
        reconcile UNKNOWN              | STALE_RESULT | FAILED_TERMINAL | -
        resolve SUCCEEDED              | INVALID | FAILED_TERMINAL | -
        resolve FAILED_TERMINAL        | INVALID | FAILED_TERMINAL | -
        resolve NOT_STARTED            | INVALID | FAILED_TERMINAL | -
        cancel                         | REPLAYED | FAILED_TERMINAL | -
        cancel, older than the horizon | REPLAYED | FAILED_TERMINAL | -
        cancel, other principal        | UNAUTHORIZED | FAILED_TERMINAL | -
        undo asked                     | NOTHING_DUE | FAILED_TERMINAL | -
        undo asked, other principal    | NOTHING_DUE | FAILED_TERMINAL | -
        undo given up                  | NOTHING_DUE | FAILED_TERMINAL | -
        deadline                       | NOTHING_DUE | FAILED_TERMINAL | -
        """);
  }

  @Test
  @Cell("EXPIRED x *")
  void expired() {
    check(
        Row.EXPIRED,
        """
        intent, malformed              | INVALID | EXPIRED | -
        intent, not permitted          | UNAUTHORIZED | EXPIRED | -
        intent, read                   | PASSED_THROUGH | EXPIRED | command
        intent, older than the horizon | EXPIRED | EXPIRED | -
        intent, other principal        | UNAUTHORIZED | EXPIRED | -
        intent, other fingerprint      | EXPIRED | EXPIRED | -
        intent, suspected twin         | EXPIRED | EXPIRED | -
        intent, same fingerprint       | EXPIRED | EXPIRED | -
        intent, undoes another         | EXPIRED | EXPIRED | -
        intent, undoes, granted        | EXPIRED | EXPIRED | -
        intent, undoes, original open  | EXPIRED | EXPIRED | -
        result SUCCEEDED               | LATE_SUCCESS | EXPIRED | alarm
        result FAILED_RETRYABLE        | STALE_RESULT | EXPIRED | -
        result FAILED_TERMINAL         | STALE_RESULT | EXPIRED | -
        result UNKNOWN                 | STALE_RESULT | EXPIRED | -
        earlier attempt SUCCEEDED      | LATE_SUCCESS | EXPIRED | alarm
        earlier attempt, no success    | STALE_RESULT | EXPIRED | -
        read report                    | PASSED_THROUGH | EXPIRED | -
        reconcile COMMITTED            | LATE_SUCCESS | EXPIRED | alarm
        reconcile ABSENT               | STALE_RESULT | EXPIRED | -
        reconcile UNKNOWN              | STALE_RESULT | EXPIRED | -
        resolve SUCCEEDED              | INVALID | EXPIRED | -
        resolve FAILED_TERMINAL        | INVALID | EXPIRED | -
        resolve NOT_STARTED            | INVALID | EXPIRED | -
        cancel                         | EXPIRED | EXPIRED | -
        cancel, older than the horizon | EXPIRED | EXPIRED | -
        cancel, other principal        | UNAUTHORIZED | EXPIRED | -
        undo asked                     | COMPENSATION_GRANTED | EXPIRED | -
        undo asked, other principal    | NOTHING_DUE | EXPIRED | -
        undo given up                  | NOTHING_DUE | EXPIRED | -
        deadline                       | NOTHING_DUE | EXPIRED | -
        """);
  }

  @Test
  @Cell("EXPIRED, tombstone over x *")
  void expiredTombstoneOver() {
    check(
        Row.EXPIRED_TOMBSTONE_OVER,
        """
        intent, malformed              | INVALID | EXPIRED | -
        intent, not permitted          | UNAUTHORIZED | EXPIRED | -
        intent, read                   | PASSED_THROUGH | EXPIRED | command
        intent, older than the horizon | EXPIRED, LATE_REPLAY | ABSENT | -
        intent, other principal        | EXPIRED, CLAIMED | IN_PROGRESS | command
        intent, other fingerprint      | EXPIRED, CLAIMED | IN_PROGRESS | command
        intent, suspected twin         | EXPIRED, CLAIMED | IN_PROGRESS | command
        intent, same fingerprint       | EXPIRED, CLAIMED | IN_PROGRESS | command
        intent, undoes another         | EXPIRED | ABSENT | -
        intent, undoes, granted        | EXPIRED, CLAIMED | IN_PROGRESS | command
        intent, undoes, original open  | EXPIRED, RETRY_LATER | ABSENT | -
        result SUCCEEDED               | EXPIRED, ORPHAN_RESULT | ABSENT | alarm
        result FAILED_RETRYABLE        | EXPIRED, ORPHAN_RESULT | ABSENT | -
        result FAILED_TERMINAL         | EXPIRED, ORPHAN_RESULT | ABSENT | -
        result UNKNOWN                 | EXPIRED, ORPHAN_RESULT | ABSENT | -
        earlier attempt SUCCEEDED      | EXPIRED, ORPHAN_RESULT | ABSENT | alarm
        earlier attempt, no success    | EXPIRED, ORPHAN_RESULT | ABSENT | -
        read report                    | PASSED_THROUGH | EXPIRED | -
        reconcile COMMITTED            | EXPIRED, ORPHAN_RESULT | ABSENT | alarm
        reconcile ABSENT               | EXPIRED, ORPHAN_RESULT | ABSENT | -
        reconcile UNKNOWN              | EXPIRED, ORPHAN_RESULT | ABSENT | -
        resolve SUCCEEDED              | EXPIRED, INVALID | ABSENT | -
        resolve FAILED_TERMINAL        | EXPIRED, INVALID | ABSENT | -
        resolve NOT_STARTED            | EXPIRED, INVALID | ABSENT | -
        cancel                         | EXPIRED, CANCELLED | CANCELLED | -
        cancel, older than the horizon | EXPIRED, LATE_REPLAY | ABSENT | -
        cancel, other principal        | EXPIRED, CANCELLED | CANCELLED | -
        undo asked                     | EXPIRED | ABSENT | -
        undo asked, other principal    | EXPIRED | ABSENT | -
        undo given up                  | EXPIRED | ABSENT | -
        deadline                       | EXPIRED | ABSENT | -
        """);
  }

  @Test
  @Cell("CANCELLED x *")
  void cancelled() {
    check(
        Row.CANCELLED,
        """
        intent, malformed              | INVALID | CANCELLED | -
        intent, not permitted          | UNAUTHORIZED | CANCELLED | -
        intent, read                   | PASSED_THROUGH | CANCELLED | command
        intent, older than the horizon | CANCELLED | CANCELLED | -
        intent, other principal        | UNAUTHORIZED | CANCELLED | -
        intent, other fingerprint      | FINGERPRINT_MISMATCH | CANCELLED | -
        intent, suspected twin         | CANCELLED | CANCELLED | -
        intent, same fingerprint       | CANCELLED | CANCELLED | -
        intent, undoes another         | FINGERPRINT_MISMATCH | CANCELLED | -
        intent, undoes, granted        | FINGERPRINT_MISMATCH | CANCELLED | -
        intent, undoes, original open  | FINGERPRINT_MISMATCH | CANCELLED | -
        result SUCCEEDED               | LATE_SUCCESS | CANCELLED | alarm
        result FAILED_RETRYABLE        | STALE_RESULT | CANCELLED | -
        result FAILED_TERMINAL         | STALE_RESULT | CANCELLED | -
        result UNKNOWN                 | STALE_RESULT | CANCELLED | -
        earlier attempt SUCCEEDED      | LATE_SUCCESS | CANCELLED | alarm
        earlier attempt, no success    | STALE_RESULT | CANCELLED | -
        read report                    | PASSED_THROUGH | CANCELLED | -
        reconcile COMMITTED            | LATE_SUCCESS | CANCELLED | alarm
        reconcile ABSENT               | STALE_RESULT | CANCELLED | -
        reconcile UNKNOWN              | STALE_RESULT | CANCELLED | -
        resolve SUCCEEDED              | INVALID | CANCELLED | -
        resolve FAILED_TERMINAL        | INVALID | CANCELLED | -
        resolve NOT_STARTED            | INVALID | CANCELLED | -
        cancel                         | CANCELLED | CANCELLED | -
        cancel, older than the horizon | CANCELLED | CANCELLED | -
        cancel, other principal        | UNAUTHORIZED | CANCELLED | -
        undo asked                     | NOTHING_DUE | CANCELLED | -
        undo asked, other principal    | NOTHING_DUE | CANCELLED | -
        undo given up                  | NOTHING_DUE | CANCELLED | -
        deadline                       | NOTHING_DUE | CANCELLED | -
        """);
  }

  private static void check(Row row, String expected) {
    List<String> lines = new ArrayList<>();
    for (Column column : Column.values()) {
      DecisionTable.Cell cell = DecisionTable.cell(row, column);
      List<String> leaves = new ArrayList<>();
      if (cell.command()) {
        leaves.add("command");
      }
      if (cell.statusRead()) {
        leaves.add("status-read");
      }
      if (cell.alarm()) {
        leaves.add("alarm");
      }
      String verdicts =
          cell.lapsed().stream().map(v -> v + ", ").collect(Collectors.joining()) + cell.verdict();
      lines.add(
          "%-30s | %s | %s | %s"
              .formatted(
                  column.label(),
                  verdicts,
                  cell.next(),
                  leaves.isEmpty() ? "-" : String.join(" ", leaves)));
    }
    assertThat(lines).containsExactlyElementsOf(expected.lines().toList());
  }
}
