package dev.ichido.inbox.wire;

import dev.ichido.inbox.JournalLine;
import dev.ichido.inbox.OperationSummary;
import dev.ichido.schemas.JournalEntry;
import org.jspecify.annotations.Nullable;

/** Reads lines of the journal. */
public final class JournalMapper {
  private static final String ABSENT = "ABSENT";
  private static final String EXPIRED = "EXPIRED";

  /** A line about an operation that is no decision on it, so its state is not the operation's. */
  private static final String REMARK = "SUSPECTED_REMINT";

  private JournalMapper() {}

  /**
   * What a line of the journal tells of an operation.
   *
   * @param after the operation after the decision; null when nothing is known of it any more, or
   *     when the line is no decision on it
   * @param forgets whether the decision forgot the operation
   */
  public record Told(JournalLine line, @Nullable OperationSummary after, boolean forgets) {}

  /**
   * The line and the operation after it; null for a line of which no operation is left: a refused
   * record leaves none, and it is in the journal and the dead letters.
   */
  public static @Nullable Told findTold(JournalEntry entry) {
    String operationId = entry.getOperationId();
    if (operationId == null) {
      return null;
    }
    boolean was = !entry.getStateBefore().equals(ABSENT);
    boolean known = !entry.getStateAfter().equals(ABSENT) || entry.getForgetAt() != null;
    boolean forgets = !known && (was || entry.getVerdict().equals(EXPIRED));
    if (!known && !forgets) {
      return null;
    }
    JournalLine line = line(entry, ReplyMapper.name(operationId));
    boolean decided = known && !entry.getVerdict().equals(REMARK);
    return new Told(line, decided ? after(entry, line) : null, forgets);
  }

  private static JournalLine line(JournalEntry entry, String operationId) {
    return new JournalLine(
        0,
        ReplyMapper.name(entry.getTenant()),
        ReplyMapper.name(entry.getScope()),
        operationId,
        entry.getRevision(),
        entry.getEvent(),
        ReplyMapper.findPlain(entry.getEventId()),
        entry.getVerdict(),
        ReplyMapper.findPlain(entry.getCode()),
        entry.getAlarm(),
        entry.getStateBefore(),
        entry.getStateAfter(),
        entry.getAttempt(),
        ReplyMapper.findPlain(entry.getBy()),
        ReplyMapper.findPlain(entry.getEvidence()),
        ReplyMapper.findPlain(entry.getRemoteReference()),
        ReplyMapper.findPlain(entry.getOtherReference()),
        ReplyMapper.findPlain(entry.getSuspectOf()),
        ReplyMapper.findPlain(entry.getReported()),
        entry.getReportedAttempt(),
        ReplyMapper.findPlain(entry.getReason()),
        entry.getAt());
  }

  private static OperationSummary after(JournalEntry entry, JournalLine line) {
    return new OperationSummary(
        0,
        line.tenant(),
        line.scope(),
        line.operationId(),
        line.revision(),
        line.stateAfter(),
        line.attempt(),
        ReplyMapper.findPlain(entry.getAction()),
        ReplyMapper.findPlain(entry.getPrincipal()),
        entry.getFingerprintVersion(),
        entry.getFingerprint(),
        entry.getResultSha256(),
        line.remoteReference(),
        entry.getFirstAttemptAt(),
        entry.getAttemptStartedAt(),
        entry.getSettledAt(),
        entry.getLeaseUntil(),
        entry.getRetryAt(),
        entry.getReconcileAt(),
        entry.getRetainUntil(),
        entry.getForgetAt(),
        findName(entry.getWorkflowId()),
        ReplyMapper.findPlain(entry.getStep()),
        ReplyMapper.findPlain(entry.getCompensates()),
        ReplyMapper.findPlain(entry.getCompensatedBy()),
        line.alarm(),
        line.at(),
        line.stateBefore().equals(line.stateAfter()) ? null : line.at(),
        line.at());
  }

  private static @Nullable String findName(@Nullable String text) {
    return text == null ? null : ReplyMapper.name(text);
  }
}
