package dev.ichido.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.Answer;
import dev.ichido.decision.Effect.ReplyAddress;
import dev.ichido.decision.Effect.SendReply;
import dev.ichido.decision.Marker;
import dev.ichido.decision.OperationEvent.ResolvedAs;
import dev.ichido.decision.StateName;
import dev.ichido.decision.Verdict;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.wire.CommandMapper;
import dev.ichido.executor.wire.CommandMapper.CommandInvalidException;
import dev.ichido.executor.wire.ResultMapper;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Principal;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import dev.ichido.simulation.Action.Written;
import dev.ichido.simulation.Executors.Told;
import dev.ichido.simulation.Person.Word;
import dev.ichido.simulation.Relays.Row;
import java.time.Instant;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.jspecify.annotations.Nullable;

/** What the others write for the shipped topology, and how they read what it writes. */
final class ShippedRecords {
  private final World world;
  private final Topics topics;
  private final Serializer<ToolIntent> intents;
  private final Serializer<OperationResult> results;
  private final Deserializer<SideEffectCommand> commands;
  private final Deserializer<OperationReply> replies;

  ShippedRecords(World world, Topics topics, RecordSerdes serdes) {
    this.world = world;
    this.topics = topics;
    this.intents = serdes.serializer(ToolIntent.class);
    this.results = serdes.serializer(OperationResult.class);
    this.commands = serdes.deserializer(SideEffectCommand.class);
    this.replies = serdes.deserializer(OperationReply.class);
  }

  /** As a runtime writes it. */
  byte[] intent(Row row) {
    OperationKey key = world.key(row.operation());
    boolean cancels = row.written() == Written.CANCEL;
    boolean reads = row.written() == Written.READ;
    ToolIntent.Builder intent =
        ToolIntent.newBuilder()
            .setKind(cancels ? IntentKind.CANCEL : IntentKind.EXECUTE)
            .setTenant(key.tenant())
            .setScope(key.scope())
            .setOperationId(key.operationId())
            .setDeliveryId(row.deliveryId())
            .setPrincipal(Processors.principal(row).name())
            .setIssuedAt(World.instantOf(0));
    if (!cancels) {
      intent
          .setAction(reads ? Profile.READING : world.profile.policy().name())
          .setTarget(World.TARGET)
          .setArguments(world.arguments(row))
          .setCompensates(reads ? null : world.undone(row.operation()));
    }
    return intents.serialize(topics.intents(), intent.build());
  }

  /** As the inbox's console writes it. */
  byte[] resolution(Row row, Word word, Instant at) {
    OperationKey key = world.key(row.operation());
    String reference = word.reference();
    return results.serialize(
        topics.results(),
        OperationResult.newBuilder()
            .setKind(ResultKind.RESOLVE)
            .setResultId(row.deliveryId())
            .setTenant(key.tenant())
            .setScope(key.scope())
            .setOperationId(key.operationId())
            .setAttempt(word.attempt())
            .setOutcome(outcome(word.as()))
            .setReportedBy(Processors.RESOLVER)
            .setEvidence(Processors.EVIDENCE)
            .setRemoteReference(reference)
            .setBody(reference == null ? null : key.recordKey())
            .setReportedAt(at)
            .build());
  }

  private static Outcome outcome(ResolvedAs as) {
    return switch (as) {
      case SUCCEEDED -> Outcome.SUCCEEDED;
      case FAILED_TERMINAL -> Outcome.FAILED_TERMINAL;
      case NOT_STARTED -> Outcome.NOT_STARTED;
    };
  }

  /** As the executor writes it. */
  byte[] result(Told told) {
    return results.serialize(
        topics.results(), ResultMapper.toResult(told.command(), told.report(), "executor"));
  }

  /** As the executor reads it. */
  ToolCommand command(byte[] key, byte[] value) {
    try {
      return CommandMapper.toCommand(key, commands.deserialize(topics.commands(), value));
    } catch (CommandInvalidException e) {
      throw new ViolationException(
          Invariant.AS_SHIPPED, "the executor refuses a command: " + e.getMessage());
    }
  }

  /** As a runtime reads it: without the remote's reason and status. */
  SendReply reply(byte[] value) {
    OperationReply r = replies.deserialize(topics.replies(), value);
    String state = r.getState();
    String marker = r.getMarker();
    return new SendReply(
        new ReplyAddress(
            r.getTenant(),
            r.getScope(),
            r.getOperationId(),
            r.getDeliveryId(),
            new Principal(r.getPrincipal())),
        Verdict.valueOf(r.getVerdict()),
        r.getCode(),
        r.getDetail(),
        state == null ? null : StateName.valueOf(state),
        r.getAttempt(),
        r.getRevision(),
        r.getFinal$(),
        marker == null ? null : Marker.valueOf(marker),
        told(
            new Answer(r.getRemoteReference(), r.getBody(), null, r.getResultSchema(), null, null)),
        r.getOriginalAt(),
        r.getLeaseUntil(),
        r.getRetryAt(),
        r.getDiffering(),
        r.getDecidedAt());
  }

  /** What of a reply a runtime gets to see. */
  static SendReply seen(SendReply r) {
    Answer answer = r.answer();
    return new SendReply(
        r.to(),
        r.verdict(),
        r.code(),
        r.detail(),
        r.state(),
        r.attempt(),
        r.revision(),
        r.last(),
        r.marker(),
        answer == null ? null : told(answer),
        r.originalAt(),
        r.leaseUntil(),
        r.retryAt(),
        r.differing(),
        r.decidedAt());
  }

  private static @Nullable Answer told(Answer a) {
    Answer told = new Answer(a.remoteReference(), a.body(), a.handle(), a.schema(), null, null);
    return told.equals(Answer.NONE) ? null : told;
  }

  static byte[] key(String recordKey) {
    return recordKey.getBytes(UTF_8);
  }
}
