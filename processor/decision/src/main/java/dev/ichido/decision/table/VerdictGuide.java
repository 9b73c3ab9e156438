package dev.ichido.decision.table;

import dev.ichido.decision.ReasonCode;
import dev.ichido.decision.Verdict;

/** What each verdict means to whoever reads a reply or the journal, and what they do about it. */
public final class VerdictGuide {
  private VerdictGuide() {}

  /** What was decided, in one or two sentences. */
  public static String meaning(Verdict verdict) {
    return switch (verdict) {
      case INVALID ->
          "The event is malformed or asks for what cannot be; its code says how. Nothing is used up:"
              + " the corrected intent may carry the same operation id.";
      case UNAUTHORIZED ->
          "The principal may not do this, or the operation belongs to another one. The reply tells"
              + " nothing of the operation, not even whether there is one.";
      case PASSED_THROUGH ->
          "The action is a read. A command leaves for each delivery, no record is kept and nothing"
              + " is replayed. A second reply brings the answer.";
      case LATE_REPLAY ->
          "Nothing is known of the operation, and it was issued longer ago than anything is"
              + " remembered. Absence proves nothing, so it does not run, and a cancel is not told that it"
              + " never did.";
      case EXPIRED ->
          "The operation was settled, and its result is no longer kept. Its identity still is, so"
              + " it does not run again.";
      case FINGERPRINT_MISMATCH ->
          "The operation is known with another meaning. The reply names the members that differ;"
              + " the record is untouched.";
      case CANCELLED -> "The operation was cancelled and starts no attempt.";
      case REPLAYED ->
          "The operation is settled. The reply carries the stored result and the time at which it"
              + " was settled.";
      case HELD_UNKNOWN ->
          "It is not known what an attempt did. Nothing is started until that is settled; the"
              + " remote is being asked. A cancel is told so, finally and with an alarm, where a success was"
              + " reported under an id of which no intent is known: there is nothing to ask with, and"
              + " the report stays.";
      case DUPLICATE_IN_PROGRESS ->
          "An attempt is running. The reply says until when its lease lasts; the delivery waits for"
              + " the result.";
      case RETRY_LATER ->
          "No attempt took effect, provably, and the next one is not due or not allowed; or the"
              + " operation that this one undoes is not settled, so that this one was not begun. The"
              + " code says why.";
      case RECLAIMED ->
          "The next attempt was started, after proof that none before it took effect or under the"
              + " remote's own dedupe.";
      case HELD_SUSPECT ->
          "The same tenant, action and meaning is known under another operation id, and the policy"
              + " holds such twins.";
      case CLAIMED ->
          "The operation is new. Its first attempt was started. The inbox keeps this reply where it"
              + " carries a code, or for a delivery whose id begins with \"every.\".";
      case SETTLED ->
          "A report settled the operation, or settled that its outcome is unknown. Every delivery"
              + " that waits is told.";
      case LATE_SUCCESS ->
          "A success arrived where none was expected any more. It is never dropped: an open or"
              + " failed operation becomes SUCCEEDED, an expired or cancelled one stays as it is.";
      case STALE_RESULT ->
          "A report of no consequence: no success, and of an earlier attempt or of a settled"
              + " operation. It is ignored and counted.";
      case DUPLICATE_RESULT -> "A report that was taken before. It is ignored and counted.";
      case SECOND_EFFECT ->
          "A second success with another remote reference, or with none: the effect may have taken"
              + " place twice. The stored result stays and both references are kept.";
      case ORPHAN_RESULT ->
          "A report on an operation of which nothing is known. A success is kept as evidence: the"
              + " intent that follows is reconciled, not claimed.";
      case LEASE_EXPIRED ->
          "The lease ended, and no report that was sent until then is still to be read. What the"
              + " attempt did is unknown, so the remote is asked; nothing is run again.";
      case RECONCILED ->
          "A status read settled the operation: the effect was found, or its absence is proven.";
      case STILL_UNKNOWN ->
          "A status read, its deadline or a report left the outcome unknown. The next read is"
              + " scheduled; from retry_horizon after the first attempt on, each raises the alarm.";
      case RESOLVED -> "A person settled the operation, with evidence.";
      case COMPENSATION_GRANTED ->
          "In the journal of an operation that took effect: it noted the one operation that may undo"
              + " it. Never replied; the compensation is answered with a verdict of its own.";
      case COMPENSATION_RELEASED ->
          "In the journal of an operation that took effect: the one that was to undo it will never"
              + " take effect, so another one may. Never replied.";
      case NOTHING_DUE ->
          "Nothing is decided: a deadline that is stale, a question that changes nothing, or a"
              + " compensation that asks its original first. Internal: it is never journalled, never"
              + " replied and never counted as a decision.";
    };
  }

  /** What the reader does. */
  public static String whatToDo(Verdict verdict) {
    return switch (verdict) {
      case INVALID -> "Correct what the code and the detail name, and send again.";
      case UNAUTHORIZED ->
          "Check the policy for the principal, and which principal claimed the operation. Sending"
              + " again does not help.";
      case PASSED_THROUGH, CLAIMED, RECLAIMED, DUPLICATE_IN_PROGRESS ->
          "Wait for the reply that settles it. There is no need to ask again.";
      case LATE_REPLAY, EXPIRED ->
          "Ask the remote by the operation's natural key what became of it. Act anew only under a"
              + " new operation id, and only when it did not take effect.";
      case FINGERPRINT_MISMATCH ->
          "Send the original request again to have its result, or the changed request under a new"
              + " operation id.";
      case CANCELLED -> "Nothing. A new wish is a new operation.";
      case REPLAYED -> "Take the result as if it had just been made.";
      case HELD_UNKNOWN ->
          "Wait, and do not act in another way. An operator may settle it with evidence.";
      case RETRY_LATER ->
          "Wait for the time in the reply; under retry.auto false, send again then. When there is none,"
              + " a person resolves or cancels. What was not begun, by a final reply without a state,"
              + " is sent again under its id when the original is settled.";
      case HELD_SUSPECT ->
          "Send under the original operation id, or with a discriminator when the twin is meant.";
      case SETTLED, RECONCILED, RESOLVED ->
          "Take the state and the result from the reply; when it is not final, keep waiting.";
      case LATE_SUCCESS ->
          "Look at it: whoever acted on the earlier answer acted on what was not so. Take the result"
              + " from the reply.";
      case STALE_RESULT, DUPLICATE_RESULT ->
          "Nothing. Many of them point at redelivery or at retries below the executor.";
      case SECOND_EFFECT ->
          "Undo one of the two effects, and find who sent the second: a retry without our key, or an"
              + " executor that was paused.";
      case ORPHAN_RESULT ->
          "Look at a success: an executor worked on what this system does not know. Check for lost"
              + " state and for commands from elsewhere.";
      case LEASE_EXPIRED ->
          "Nothing at once. Often: the lease is shorter than the work, or an executor dies.";
      case STILL_UNKNOWN ->
          "Nothing at once. If it lasts, ask the remote's operator and settle it with evidence.";
      case COMPENSATION_GRANTED -> "Nothing. The journal of the compensation tells what it did.";
      case COMPENSATION_RELEASED ->
          "Look whether the operation is to be undone in another way: it still stands.";
      case NOTHING_DUE -> "Nothing.";
    };
  }

  /** Why a verdict came out as it did, for the codes that go with a verdict. */
  public static String meaning(ReasonCode code) {
    return switch (code) {
      case MAX_ATTEMPTS ->
          "No attempt follows: those of the policy are used up. A person resolves or cancels.";
      case RETRY_HORIZON ->
          "No attempt follows: none starts this late after the first, and no person's NOT_STARTED"
              + " changes that. A person settles it as SUCCEEDED or FAILED_TERMINAL, or cancels.";
      case BACKOFF -> "RETRY_LATER: the next attempt is due at the time in the reply.";
      case BUDGET_EMPTY ->
          "RETRY_LATER: the retry budget of the tenant and action is empty until the time in the"
              + " reply.";
      case ORIGINAL_ABSENT ->
          "RETRY_LATER: nothing is known of the operation that this one undoes. Send it again when"
              + " the original is settled.";
      case ORIGINAL_IN_PROGRESS ->
          "RETRY_LATER: an attempt of the operation that this one undoes is running. Send it again"
              + " when the original is settled.";
      case ORIGINAL_UNKNOWN ->
          "RETRY_LATER: it is not known whether the operation took effect that this one undoes. Send"
              + " it again when that is settled.";
      case ORIGINAL_RETRYABLE ->
          "RETRY_LATER: the operation that this one undoes did not take effect, and still may."
              + " Cancel it, or send the compensation again when it is settled.";
      case SUSPECTED_REMINT ->
          "CLAIMED: the same meaning is known under another id. The journal names it.";
      case WAITING_FULL ->
          "Too many deliveries wait for the operation. This reply is the last for this one; ask"
              + " again.";
    };
  }
}
