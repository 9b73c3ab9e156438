package dev.ichido.topology.wire;

import dev.ichido.decision.Answer;
import dev.ichido.decision.Effect.Command;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.Projection;
import dev.ichido.decision.ReasonCode;
import dev.ichido.decision.StateName;
import dev.ichido.decision.Transition;
import dev.ichido.schemas.BodyHandle;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.RefusedRecord;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.topology.NodeNames;
import java.time.Instant;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/** Effects and journal lines to bytes. They are written before any state is put. */
public final class EffectMapper {
  /** Event and verdict of the lines that the index of meanings writes. */
  public static final String SUSPECTED_REMINT = ReasonCode.SUSPECTED_REMINT.name();

  private static final String ROLE = "processor";

  private final Topics topics;
  private final Serializer<SideEffectCommand> commands;
  private final Serializer<OperationReply> replies;
  private final Serializer<JournalEntry> journal;
  private final Serializer<DeadLetter> deadLetters;

  public EffectMapper(Topics topics, RecordSerdes serdes) {
    this.topics = topics;
    this.commands = serdes.serializer(SideEffectCommand.class);
    this.replies = serdes.serializer(OperationReply.class);
    this.journal = serdes.serializer(JournalEntry.class);
    this.deadLetters = serdes.serializer(DeadLetter.class);
  }

  public Outgoing command(Command command) {
    SideEffectCommand record =
        SideEffectCommand.newBuilder()
            .setKind(
                switch (command.kind()) {
                  case EXECUTE -> CommandKind.EXECUTE;
                  case READ -> CommandKind.READ;
                  case RECONCILE -> CommandKind.RECONCILE;
                })
            .setCommandId(command.commandId())
            .setTenant(command.tenant())
            .setScope(command.scope())
            .setOperationId(command.operationId())
            .setDeliveryId(command.deliveryId())
            .setAttempt(command.attempt())
            .setRead(command.read())
            .setAction(command.action())
            .setActionVersion(command.actionVersion())
            .setTarget(command.target())
            .setArguments(command.arguments())
            .setPrecondition(command.precondition())
            .setPrincipal(command.principal().name())
            .setFingerprintVersion(command.fingerprintVersion())
            .setDownstreamKey(command.downstreamKey())
            .setIssuedAt(command.issuedAt())
            .setFirstAttemptAt(command.firstAttemptAt())
            .setDeadline(command.deadline())
            .setStartWithinMs(
                command.startWithin() == null ? null : command.startWithin().toMillis())
            .setLeaseOver(command.leaseOver())
            .setWorkflowId(command.workflowId())
            .setStep(command.step())
            .setCompensates(command.compensates())
            .build();
    return new Outgoing(NodeNames.COMMANDS, commands.serialize(topics.commands(), record));
  }

  public Outgoing reply(SendReply reply) {
    Answer answer = reply.answer() == null ? Answer.NONE : reply.answer();
    OperationReply record =
        OperationReply.newBuilder()
            .setTenant(reply.to().tenant())
            .setScope(reply.to().scope())
            .setOperationId(reply.to().operationId())
            .setDeliveryId(reply.to().deliveryId())
            .setPrincipal(reply.to().principal().name())
            .setVerdict(reply.verdict().name())
            .setCode(reply.code())
            .setDetail(reply.detail())
            .setState(reply.state() == null ? null : reply.state().name())
            .setAttempt(reply.attempt())
            .setRevision(reply.revision())
            .setFinal$(reply.last())
            .setMarker(reply.marker() == null ? null : reply.marker().name())
            .setRemoteReference(answer.remoteReference())
            .setBody(answer.body())
            .setBodyHandle(handle(answer))
            .setResultSchema(answer.schema())
            .setOriginalAt(reply.originalAt())
            .setLeaseUntil(reply.leaseUntil())
            .setRetryAt(reply.retryAt())
            .setDiffering(reply.differing())
            .setDecidedAt(reply.decidedAt())
            .build();
    return new Outgoing(NodeNames.REPLIES, replies.serialize(topics.replies(), record));
  }

  /** A line of the journal about an operation; the id is null where the event carried none. */
  public Outgoing journal(
      String tenant, String scope, @Nullable String operationId, Transition transition) {
    Projection after = Projection.of(transition.after());
    Transition.Report report = transition.report();
    JournalEntry record =
        JournalEntry.newBuilder()
            .setTenant(tenant)
            .setScope(scope)
            .setOperationId(operationId)
            .setRevision(after.revision())
            .setEvent(transition.event().name())
            .setEventId(transition.eventId())
            .setVerdict(transition.verdict().name())
            .setCode(transition.code())
            .setAlarm(transition.alarm())
            .setStateBefore(transition.before().name().name())
            .setStateAfter(after.state().name())
            .setAttempt(after.attempt())
            .setAction(after.action())
            .setPrincipal(after.principal())
            .setBy(transition.by())
            .setEvidence(transition.evidence())
            .setFingerprintVersion(after.fingerprintVersion())
            .setFingerprint(after.fingerprint())
            .setResultSha256(after.resultSha256())
            .setRemoteReference(after.remoteReference())
            .setOtherReference(transition.otherReference())
            .setSuspectOf(transition.suspectOf())
            .setReported(report == null ? null : report.said())
            .setReportedAttempt(report == null ? null : report.attempt())
            .setReason(report == null ? null : report.reason())
            .setAt(transition.at())
            .setFirstAttemptAt(after.firstAttemptAt())
            .setAttemptStartedAt(after.attemptStartedAt())
            .setSettledAt(after.settledAt())
            .setLeaseUntil(after.leaseUntil())
            .setRetryAt(after.retryAt())
            .setReconcileAt(after.reconcileAt())
            .setRetainUntil(after.retainUntil())
            .setForgetAt(after.forgetAt())
            .setWorkflowId(after.workflowId())
            .setStep(after.step())
            .setCompensates(after.compensates())
            .setCompensatedBy(after.compensatedBy())
            .build();
    return new Outgoing(NodeNames.JOURNAL, journal.serialize(topics.journal(), record));
  }

  /** A line about an operation whose meaning is known under another id; its state is untouched. */
  public Outgoing suspectedRemint(InternalMessage.News news, String twin, Instant at) {
    JournalEntry record =
        JournalEntry.newBuilder()
            .setTenant(news.tenant())
            .setScope(news.scope())
            .setOperationId(news.operationId())
            .setRevision(news.revision())
            .setEvent(SUSPECTED_REMINT)
            .setVerdict(SUSPECTED_REMINT)
            .setCode(SUSPECTED_REMINT)
            .setStateBefore(StateName.IN_PROGRESS.name())
            .setStateAfter(StateName.IN_PROGRESS.name())
            .setAction(news.action())
            .setSuspectOf(twin)
            .setAt(at)
            .build();
    return new Outgoing(NodeNames.SUSPECT_JOURNAL, journal.serialize(topics.journal(), record));
  }

  public Outgoing deadLetter(SourcePosition source, Poison poison, Instant at) {
    RefusedRecord refused = RefusedRecord.of(source.key(), source.value());
    DeadLetter record =
        DeadLetter.newBuilder()
            .setRole(ROLE)
            .setCode(poison.code())
            .setReasonClass(poison.reason().name())
            .setDetail(poison.detail())
            .setSourceTopic(source.topic())
            .setSourcePartition(source.partition())
            .setSourceOffset(source.offset())
            .setSourceTimestamp(
                source.timestamp() < 0 ? null : Instant.ofEpochMilli(source.timestamp()))
            .setRecordKey(refused.key())
            .setRecordValue(refused.value())
            .setAt(at)
            .build();
    return new Outgoing(
        NodeNames.DEAD_LETTERS, deadLetters.serialize(topics.deadLetters(), record));
  }

  private static @Nullable BodyHandle handle(Answer answer) {
    return answer.handle() == null
        ? null
        : BodyHandle.newBuilder()
            .setSha256(answer.handle().sha256())
            .setBytes(answer.handle().bytes())
            .build();
  }
}
