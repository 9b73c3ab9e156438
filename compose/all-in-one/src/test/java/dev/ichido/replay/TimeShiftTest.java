package dev.ichido.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RecordSerdes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.avro.specific.SpecificRecordBase;
import org.junit.jupiter.api.Test;

class TimeShiftTest {
  private static final Instant THEN = Instant.parse("2026-01-31T12:00:00Z");
  private static final Instant NOW = Instant.parse("2026-11-30T12:00:00Z");

  /** An id that was derived from a time, and arguments with one in them. */
  private static final String ID = "run-20260131T120000Z-0001";

  private static final String ARGUMENTS = "{\"at\":1769860800000}";

  private final Topics topics = Topics.withDefaultPrefix();
  private final RecordSerdes serdes =
      RecordSerdes.from(
          Map.of(
              RecordSerdes.SERIALIZER_CLASS, "dev.ichido.conformance.LocalAvro$Writer",
              RecordSerdes.DESERIALIZER_CLASS, "dev.ichido.conformance.LocalAvro$Reader"));

  @Test
  void timesKeepTheirDistanceToTheNewestRecordAndNothingElseMoves() {
    ToolIntent intent =
        ToolIntent.newBuilder()
            .setKind(IntentKind.EXECUTE)
            .setTenant("t1")
            .setScope("global")
            .setOperationId(ID)
            .setDeliveryId("d-1")
            .setPrincipal("agent:a")
            .setAction("pay")
            .setArguments(ARGUMENTS)
            .setIssuedAt(THEN.minusSeconds(60))
            .build();
    SideEffectCommand command =
        SideEffectCommand.newBuilder()
            .setKind(CommandKind.EXECUTE)
            .setCommandId("c-1")
            .setTenant("t1")
            .setScope("global")
            .setOperationId(ID)
            .setAttempt(1)
            .setRead(0)
            .setAction("pay")
            .setArguments(ARGUMENTS)
            .setPrincipal("agent:a")
            .setFingerprintVersion(1)
            .setIssuedAt(THEN.minusSeconds(60))
            .setFirstAttemptAt(THEN.minusSeconds(5))
            .setDeadline(THEN.plusSeconds(25))
            .setLeaseOver(false)
            .build();
    OperationResult result =
        OperationResult.newBuilder()
            .setKind(ResultKind.ATTEMPT)
            .setResultId("r-1")
            .setTenant("t1")
            .setScope("global")
            .setOperationId(ID)
            .setAttempt(1)
            .setOutcome(Outcome.SUCCEEDED)
            .setBody(ARGUMENTS)
            .setReportedAt(THEN)
            .build();
    byte[] poison = {1, 2, 3};

    List<Recorded> shifted =
        new TimeShift(serdes, topics)
            .newestAt(
                NOW,
                List.of(
                    recorded(ReplayTopic.INTENTS, THEN.minusSeconds(59), intent),
                    recorded(ReplayTopic.COMMANDS, THEN.minusSeconds(5), command),
                    recorded(ReplayTopic.RESULTS, THEN, result),
                    new Recorded(
                        ReplayTopic.INTENTS,
                        THEN.minusSeconds(70).toEpochMilli(),
                        null,
                        poison,
                        List.of())));

    Duration by = Duration.between(THEN, NOW);
    assertThat(shifted)
        .extracting(it -> Instant.ofEpochMilli(it.at()).minus(by))
        .containsExactly(THEN.minusSeconds(59), THEN.minusSeconds(5), THEN, THEN.minusSeconds(70));
    assertThat(read(shifted.get(0), ToolIntent.class))
        .isEqualTo(ToolIntent.newBuilder(intent).setIssuedAt(NOW.minusSeconds(60)).build());
    assertThat(read(shifted.get(1), SideEffectCommand.class))
        .isEqualTo(
            SideEffectCommand.newBuilder(command)
                .setIssuedAt(NOW.minusSeconds(60))
                .setFirstAttemptAt(NOW.minusSeconds(5))
                .setDeadline(NOW.plusSeconds(25))
                .build());
    assertThat(read(shifted.get(2), OperationResult.class))
        .isEqualTo(OperationResult.newBuilder(result).setReportedAt(NOW).build());
    assertThat(shifted.get(3).value()).isEqualTo(poison);
  }

  @SuppressWarnings("unchecked") // The type of the record is that of its topic.
  private Recorded recorded(ReplayTopic topic, Instant at, SpecificRecordBase value) {
    return new Recorded(
        topic,
        at.toEpochMilli(),
        new byte[] {1},
        serdes
            .serializer((Class<SpecificRecordBase>) value.getClass())
            .serialize(topic.in(topics), value),
        List.of());
  }

  private <T extends SpecificRecordBase> T read(Recorded record, Class<T> type) {
    return serdes.deserializer(type).deserialize(record.topic().in(topics), record.value());
  }
}
