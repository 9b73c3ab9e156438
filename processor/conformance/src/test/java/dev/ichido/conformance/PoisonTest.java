package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.MissingNode;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.StateName;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A record that cannot be decided on touches no state, and the next one is decided on. */
class PoisonTest {
  private static final Step.Address ADDRESS =
      new Step.Address("t1", "global", Step.DEFAULT_OPERATION);
  private static final byte[] KEY = StepRecords.recordKey(ADDRESS, "").getBytes(UTF_8);

  private final VirtualProcessor processor =
      new VirtualProcessor(Policies.with(MissingNode.getInstance()));

  @AfterEach
  void close() {
    processor.close();
  }

  private static ToolIntent.Builder intent() {
    return ToolIntent.newBuilder()
        .setTenant("t1")
        .setOperationId(Step.DEFAULT_OPERATION)
        .setDeliveryId("d-1")
        .setPrincipal("agent:a")
        .setAction("pay.transfer")
        .setTarget("acct:1")
        .setIssuedAt(VirtualProcessor.START);
  }

  private static OperationResult.Builder result() {
    return OperationResult.newBuilder()
        .setKind(ResultKind.ATTEMPT)
        .setResultId("r-1")
        .setTenant("t1")
        .setScope("global")
        .setOperationId(Step.DEFAULT_OPERATION)
        .setOutcome(Outcome.SUCCEEDED)
        .setReportedAt(VirtualProcessor.START);
  }

  private byte[] bytes(ToolIntent.Builder intent) {
    return processor
        .serdes()
        .serializer(ToolIntent.class)
        .serialize(processor.topics().intents(), intent.build());
  }

  private byte[] bytes(OperationResult.Builder result) {
    return processor
        .serdes()
        .serializer(OperationResult.class)
        .serialize(processor.topics().results(), result.build());
  }

  private DeadLetter refused(String code, String reason) {
    Map<String, OperationState> before = processor.states();
    VirtualProcessor.Output output = processor.drain();
    assertThat(output.deadLetters()).hasSize(1);
    assertThat(output.commands()).isEmpty();
    assertThat(processor.states()).isEqualTo(before);
    DeadLetter letter = output.deadLetters().get(0);
    assertThat(letter.getCode()).isEqualTo(code);
    assertThat(letter.getReasonClass()).isEqualTo(reason);
    assertThat(letter.getRole()).isEqualTo("processor");
    return letter;
  }

  private void intentRefused(
      byte @Nullable [] key, byte @Nullable [] value, String code, String reason) {
    processor.intent(key, value);
    DeadLetter letter = refused(code, reason);
    assertThat(letter.getSourceTopic()).isEqualTo(processor.topics().intents());
  }

  @Test
  void bytesThatAreNoRecordAreRefusedWithTheirPositionAndTheStreamGoesOn() {
    processor.intent(KEY, bytes(intent()));
    processor.drain();
    byte[] garbage = "no avro at all".getBytes(UTF_8);
    processor.intent(KEY, garbage);
    DeadLetter letter = refused("RECORD_MALFORMED", "DECODING");
    assertThat(letter.getSourcePartition()).isZero();
    assertThat(letter.getSourceOffset()).isEqualTo(1);
    assertThat(letter.getRecordValue().array()).isEqualTo(garbage);
    assertThat(letter.getRecordKey().array()).isEqualTo(KEY);
    processor.result(KEY, bytes(result()));
    assertThat(processor.state(new String(KEY, UTF_8)).name()).isEqualTo(StateName.SUCCEEDED);
  }

  /** A topic's limit holds for what is sent, so a record that was packed can be of any size. */
  @Test
  void aRecordThatIsTooLargeIsRefusedWithAsMuchOfItAsItsTopicTakes() {
    byte[] large = bytes(intent().setTarget("a".repeat(Topics.RECORD_BYTES)));
    processor.intent(KEY, large);
    DeadLetter letter = refused("RECORD_TOO_LARGE", "CONTRACT");
    assertThat(letter.getRecordValue()).isNull();
    assertThat(letter.getRecordKey().array()).isEqualTo(KEY);
    processor.result(KEY, bytes(result().setRemoteReference("a".repeat(Topics.RECORD_BYTES))));
    assertThat(refused("RECORD_TOO_LARGE", "CONTRACT").getSourceTopic())
        .isEqualTo(processor.topics().results());

    byte[] key = "a".repeat(Topics.RECORD_BYTES / 2 + 1).getBytes(UTF_8);
    processor.intent(key, bytes(intent()));
    assertThat(refused("KEY_MISMATCH", "CONTRACT").getRecordKey()).isNull();
  }

  @Test
  void aRecordOfAForeignSchemaIsRefused() {
    intentRefused(KEY, bytes(result()), "RECORD_SCHEMA_FOREIGN", "DECODING");
    processor.result(KEY, bytes(intent()));
    assertThat(refused("RECORD_SCHEMA_FOREIGN", "DECODING").getSourceTopic())
        .isEqualTo(processor.topics().results());
  }

  @Test
  void aRecordWithoutAValueIsRefused() {
    intentRefused(KEY, null, "RECORD_EMPTY", "DECODING");
  }

  @Test
  void aKeyThatDoesNotFitTheContentIsRefused() {
    intentRefused(
        "k1/t1/global/other".getBytes(UTF_8), bytes(intent()), "KEY_MISMATCH", "CONTRACT");
    intentRefused(null, bytes(intent()), "KEY_MISMATCH", "CONTRACT");
    processor.result("k1/t2/global/x".getBytes(UTF_8), bytes(result()));
    refused("KEY_MISMATCH", "CONTRACT");
  }

  @Test
  void aKindOrAnOutcomeOfALaterReleaseIsRefused() {
    intentRefused(
        KEY, bytes(intent().setKind(IntentKind.UNRECOGNIZED)), "INTENT_KIND_UNKNOWN", "CONTRACT");
    processor.result(KEY, bytes(result().setKind(ResultKind.UNRECOGNIZED)));
    refused("RESULT_UNFIT", "CONTRACT");
    processor.result(KEY, bytes(result().setOutcome(Outcome.COMMITTED)));
    refused("RESULT_UNFIT", "CONTRACT");
    processor.result(KEY, bytes(result().setAttempt(0)));
    refused("RESULT_UNFIT", "CONTRACT");
  }

  @Test
  void aDeliveryThatCannotBeAnsweredIsRefused() {
    intentRefused(KEY, bytes(intent().setDeliveryId(" ")), "DELIVERY_ID_MISSING", "CONTRACT");
  }

  @Test
  void anInvalidIntentIsAnsweredAndRefused() {
    processor.intent(KEY, bytes(intent().setArguments("{")));
    VirtualProcessor.Output output = processor.drain();
    assertThat(output.replies()).hasSize(1);
    assertThat(output.replies().get(0).getVerdict()).isEqualTo("INVALID");
    assertThat(output.deadLetters()).hasSize(1);
    assertThat(output.deadLetters().get(0).getCode()).isEqualTo("ARGUMENTS_NOT_JSON");
    assertThat(processor.states()).isEmpty();
  }

  @Test
  void anIntentOfAStrangerIsAnsweredAndRefused() {
    processor.intent(KEY, bytes(intent().setPrincipal("agent:z")));
    VirtualProcessor.Output output = processor.drain();
    assertThat(output.replies()).hasSize(1);
    assertThat(output.deadLetters()).hasSize(1);
    assertThat(output.deadLetters().get(0).getReasonClass()).isEqualTo("AUTHORIZATION");
    assertThat(processor.states()).isEmpty();
  }

  @Test
  void aMemberMayHaveANameOfAnyLengthThatFits() {
    processor.intent(KEY, bytes(intent().setArguments("{\"" + "n".repeat(900_000) + "\":1}")));
    assertThat(processor.drain().replies().get(0).getVerdict()).isEqualTo("CLAIMED");
  }

  @Test
  void argumentsOfMoreThanAMebibyteAreRefused() {
    processor.intent(KEY, bytes(intent().setArguments("{\"a\":\"" + "x".repeat(1 << 20) + "\"}")));
    refused("ARGUMENTS_TOO_LARGE", "CONTRACT");
  }
}
