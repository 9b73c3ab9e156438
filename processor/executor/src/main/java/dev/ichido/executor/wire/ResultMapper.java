package dev.ichido.executor.wire;

import dev.ichido.executor.Report;
import dev.ichido.executor.ToolCommand;
import dev.ichido.schemas.BodyHandle;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.RefusedRecord;
import dev.ichido.schemas.ResultKind;
import java.time.Instant;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Writes results and dead letters. */
public final class ResultMapper {
  private ResultMapper() {}

  /**
   * Makes the record of a report.
   *
   * @param reporter the executor's name
   */
  public static OperationResult toResult(ToolCommand command, Report report, String reporter) {
    return OperationResult.newBuilder()
        .setKind(
            switch (report.kind()) {
              case ATTEMPT -> ResultKind.ATTEMPT;
              case READ -> ResultKind.READ;
              case RECONCILE -> ResultKind.RECONCILE;
            })
        .setResultId(report.resultId())
        .setCommandId(command.commandId())
        .setTenant(command.tenant())
        .setScope(command.scope())
        .setOperationId(command.operationId())
        .setDeliveryId(report.kind() == Report.Kind.READ ? command.deliveryId() : null)
        .setPrincipal(report.kind() == Report.Kind.READ ? command.principal() : null)
        .setAttempt(report.kind() == Report.Kind.READ ? null : command.attempt())
        .setOutcome(
            switch (report.finding()) {
              case SUCCEEDED -> Outcome.SUCCEEDED;
              case FAILED_RETRYABLE -> Outcome.FAILED_RETRYABLE;
              case FAILED_TERMINAL -> Outcome.FAILED_TERMINAL;
              case UNKNOWN -> Outcome.UNKNOWN;
              case COMMITTED -> Outcome.COMMITTED;
              case ABSENT -> Outcome.ABSENT;
            })
        .setRemoteReference(report.reference())
        .setBody(report.body())
        .setBodyHandle(
            report.bodySha256() == null
                ? null
                : BodyHandle.newBuilder()
                    .setSha256(report.bodySha256())
                    .setBytes(report.bodyBytes())
                    .build())
        .setResultSchema(report.schema())
        .setReason(report.reason())
        .setRemoteStatus(report.remoteStatus())
        .setRemoteCalls(report.remoteCalls())
        .setRetryAfterMs(report.retryAfter() == null ? null : report.retryAfter().toMillis())
        .setReportedBy(reporter)
        .setReportedAt(report.at())
        .build();
  }

  /** The record as it was, if it is not too large, with its place and the reason. */
  public static DeadLetter toDeadLetter(
      ConsumerRecord<byte[], byte[]> source,
      String code,
      String reasonClass,
      String detail,
      Instant at) {
    RefusedRecord refused = RefusedRecord.of(source.key(), source.value());
    return DeadLetter.newBuilder()
        .setRole("executor")
        .setCode(code)
        .setReasonClass(reasonClass)
        .setDetail(detail)
        .setSourceTopic(source.topic())
        .setSourcePartition(source.partition())
        .setSourceOffset(source.offset())
        .setSourceTimestamp(Instant.ofEpochMilli(source.timestamp()))
        .setRecordKey(refused.key())
        .setRecordValue(refused.value())
        .setAt(at)
        .build();
  }
}
