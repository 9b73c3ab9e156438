package dev.ichido.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.topology.policy.LocatedTree;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** When the processor looks for what is due. */
class SweepTest {
  /** With nothing due the next look is a second ahead; the retry is due before. */
  @Test
  void aDeadlineThatIsArmedBeforeThePlannedLookBringsItForward() {
    try (VirtualProcessor processor =
        new VirtualProcessor(
            Policies.with(
                node(
                    "{ actions: { pay.transfer: { retry: { initial: 300ms, max: 300ms } } } }")))) {
      StepRecords records = new StepRecords(processor.topics(), processor.serdes());
      processor.advance(Duration.ofSeconds(5));
      Step.Intent intent = (Step.Intent) Step.of("s", node("intent: {}")).verb();
      StepRecords.Sent sent = records.intent(0, intent, processor.now());
      processor.intent(sent.key(), sent.value());
      assertThat(processor.drain().commands()).hasSize(1);
      Step.Result result =
          (Step.Result) Step.of("s", node("result: { outcome: FAILED_RETRYABLE }")).verb();
      StepRecords.Sent failed = records.result(1, result, null, processor.now());
      processor.result(failed.key(), failed.value());
      assertThat(processor.drain().commands()).isEmpty();

      Instant due = processor.nextDeadline().orElseThrow();
      assertThat(due).isBefore(processor.now().plusMillis(900));
      processor.advance(Duration.between(processor.now(), due).plusMillis(1));
      assertThat(processor.drain().commands()).hasSize(1);
    }
  }

  private static JsonNode node(String text) {
    return LocatedTree.read("step", text).root();
  }
}
