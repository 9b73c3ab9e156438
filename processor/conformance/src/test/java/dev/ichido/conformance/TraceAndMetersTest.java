package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.topology.policy.LocatedTree;
import java.time.Duration;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What travels beside the records, and what is counted. */
class TraceAndMetersTest {
  private final VirtualProcessor processor = new VirtualProcessor(Policies.with(node("{}")));
  private final StepRecords records = new StepRecords(processor.topics(), processor.serdes());

  @AfterEach
  void close() {
    processor.close();
  }

  private static JsonNode node(String text) {
    return LocatedTree.read("step", text).root();
  }

  private StepRecords.Sent intent(int step, String members) {
    Step.Verb verb = Step.of("s", node("intent: " + members)).verb();
    StepRecords.Sent sent = records.intent(step, (Step.Intent) verb, processor.now());
    processor.intent(sent.key(), sent.value());
    return sent;
  }

  private void result(int step, String members) {
    Step.Verb verb = Step.of("s", node("result: " + members)).verb();
    StepRecords.Sent sent = records.result(step, (Step.Result) verb, null, processor.now());
    processor.result(sent.key(), sent.value());
  }

  private double counted(String verdict, String tenant, String action) {
    return processor
        .meters()
        .counter("ichido.verdicts", "verdict", verdict, "tenant", tenant, "action", action)
        .count();
  }

  @Test
  void theTraceOfTheIntentGoesOnToEveryAttempt() {
    processor.withHeaders(
        new RecordHeaders()
            .add(
                "traceparent",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".getBytes(UTF_8))
            .add("x-secret", "not ours".getBytes(UTF_8)));
    intent(0, "{}");
    processor.withHeaders(new RecordHeaders());
    processor.drain();
    assertThat(processor.traced())
        .contains("ichido.commands traceparent", "ichido.replies traceparent")
        .noneMatch(it -> it.contains("x-secret"));
    int before = processor.traced().size();

    result(1, "{ outcome: FAILED_RETRYABLE }");
    processor.drain();
    processor.advance(Duration.ofSeconds(2));
    assertThat(processor.drain().commands()).hasSize(1);
    assertThat(processor.traced().subList(before, processor.traced().size()))
        .contains("ichido.commands traceparent");
  }

  @Test
  void everyVerdictIsCountedByTenantAndAction() {
    intent(0, "{}");
    intent(1, "{}");
    intent(2, "{ tenant: t9 }");
    intent(3, "{ action: nothing }");
    result(4, "{ outcome: SUCCEEDED, remote_ref: r-1 }");
    result(5, "{ outcome: SUCCEEDED, remote_ref: r-2 }");
    assertThat(counted("CLAIMED", "t1", "pay.transfer")).isEqualTo(1);
    assertThat(counted("DUPLICATE_IN_PROGRESS", "t1", "pay.transfer")).isEqualTo(1);
    assertThat(counted("SETTLED", "t1", "pay.transfer")).isEqualTo(1);
    assertThat(counted("SECOND_EFFECT", "t1", "pay.transfer")).isEqualTo(1);
    assertThat(counted("INVALID", "unknown", "pay.transfer")).isEqualTo(1);
    assertThat(
            processor
                .meters()
                .counter(
                    "ichido.alarms",
                    "verdict",
                    "SECOND_EFFECT",
                    "tenant",
                    "t1",
                    "action",
                    "pay.transfer")
                .count())
        .isEqualTo(1);
    assertThat(
            processor
                .meters()
                .counter("ichido.dead.letters", "code", "TENANT_UNKNOWN", "reason", "CONTRACT")
                .count())
        .isEqualTo(1);
  }

  @Test
  void aStrangerMakesNoSeries() {
    intent(0, "{ tenant: made-up-1, action: made-up-2 }");
    assertThat(processor.meters().getMeters())
        .noneMatch(it -> it.getId().getTags().toString().contains("made-up"));
  }
}
