package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.topology.operation.Hearing;
import dev.ichido.topology.policy.LocatedTree;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
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

  /** Has heard as far as a test says. */
  private static final class Told implements Hearing {
    Instant until = VirtualProcessor.START;
    boolean listens;

    @Override
    public Instant heardUntil(int partition, Instant now) {
      return until.isBefore(now) ? until : now;
    }

    @Override
    public void listen(int partition, Instant now) {
      listens = true;
    }
  }

  private static VirtualProcessor hearing(Told told) {
    return new VirtualProcessor(
        Policies.with(node("{ actions: { pay.transfer: { lease: 6s } } }")),
        told,
        Duration.ofMillis(100));
  }

  private static void claim(VirtualProcessor processor, int step) {
    StepRecords records = new StepRecords(processor.topics(), processor.serdes());
    StepRecords.Sent sent =
        records.intent(
            step,
            (Step.Intent)
                Step.of(
                        "s",
                        node(
                            "intent: { operation: op-0000000000000001, delivery: d-%d }"
                                .formatted(step)))
                    .verb(),
            processor.now());
    processor.intent(sent.key(), sent.value());
  }

  private static List<String> verdicts(VirtualProcessor processor) {
    return processor.drain().journal().stream().map(JournalEntry::getVerdict).toList();
  }

  /** The processor was away for longer than the lease, and the result lies in the topic. */
  @Tag("FR-10")
  @Test
  void aLeaseIsNotCalledOverBeforeTheResultThatWasSentMeanwhileIsRead() {
    Told told = new Told();
    try (VirtualProcessor processor = hearing(told)) {
      claim(processor, 1);
      told.until = processor.now().plusMillis(5_999);
      processor.advance(Duration.ofSeconds(20));
      assertThat(told.listens).isTrue();
      assertThat(verdicts(processor)).containsExactly("CLAIMED");

      claim(processor, 2);
      StepRecords records = new StepRecords(processor.topics(), processor.serdes());
      StepRecords.Sent result =
          records.result(
              3,
              (Step.Result)
                  Step.of(
                          "s",
                          node(
                              "result: { operation: op-0000000000000001, attempt: 1, outcome: SUCCEEDED, remote_ref: r-1 }"))
                      .verb(),
              null,
              processor.now());
      processor.result(result.key(), result.value());
      told.until = processor.now();
      processor.advance(Duration.ofSeconds(1));
      assertThat(verdicts(processor)).containsExactly("DUPLICATE_IN_PROGRESS", "SETTLED");
    }
  }

  /** Whatever comes in between: a sweep that is put off by each record never comes. */
  @Test
  void aLeaseIsCalledOverWhenAllIsReadHoweverMuchComes() {
    Told told = new Told();
    try (VirtualProcessor processor = hearing(told)) {
      claim(processor, 1);
      processor.advance(Duration.ofMillis(6_500));
      assertThat(verdicts(processor)).containsExactly("CLAIMED");
      told.until = processor.now();
      for (int i = 0; i < 10; i++) {
        processor.advance(Duration.ofMillis(30));
        processor.result("k".getBytes(UTF_8), "poison".getBytes(UTF_8));
      }
      assertThat(verdicts(processor)).containsExactly("LEASE_EXPIRED");
    }
  }

  @Test
  void nobodyListensWhereNothingIsDue() {
    Told told = new Told();
    try (VirtualProcessor processor = hearing(told)) {
      claim(processor, 1);
      processor.advance(Duration.ofSeconds(4));
      assertThat(told.listens).isFalse();
      processor.advance(Duration.ofSeconds(2));
      assertThat(told.listens).isTrue();
    }
  }

  private static JsonNode node(String text) {
    return LocatedTree.read("step", text).root();
  }
}
