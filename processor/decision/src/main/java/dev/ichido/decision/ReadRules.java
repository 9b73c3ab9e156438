package dev.ichido.decision;

import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.OperationEvent.ReadReported;
import java.util.List;

/** The answer to a read goes straight to its delivery; no state is looked at. */
final class ReadRules {
  private ReadRules() {}

  static Decision decide(Draft d, ReadReported e) {
    d.emit(
        new SendReply(
            new ReplyAddress(e.tenant(), e.scope(), e.operationId(), e.deliveryId(), e.principal()),
            Verdict.PASSED_THROUGH,
            null,
            null,
            e.succeeded() ? StateName.SUCCEEDED : StateName.FAILED_TERMINAL,
            0,
            0,
            true,
            Marker.EXECUTED,
            e.answer(),
            e.at(),
            null,
            null,
            List.of(),
            e.at()));
    return d.close(Verdict.PASSED_THROUGH, Note.NONE);
  }
}
