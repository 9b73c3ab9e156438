package dev.ichido.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.conformance.ConformanceReport.Failure;
import dev.ichido.decision.StateName;
import dev.ichido.topology.NodeNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A runner that cannot fail proves nothing. */
class RunnerTest {
  @TempDir Path folder;

  private static JsonNode intent() {
    ObjectNode step = JsonNodeFactory.instance.objectNode();
    step.putObject("intent");
    return step;
  }

  private static String difference(String line) {
    return Conformance.runLine("x", line).map(Failure::difference).orElse("none");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'id':'x','stepz':[]}",
        "{'id':'x','keys':{'a':['t','s','o'],'b':['t','s','o'],'expect':'SAME'},'more':1}",
        "{'id':'x','steps':[{'intent':{'operatoin':'o'}}]}",
        "{'id':'x','steps':[{'intent':{},'expects':{}}]}",
        "{'id':'x','steps':[{'intent':{},'expect':{'verdikt':'CLAIMED'}}]}",
        "{'id':'x','steps':[{'intent':{},'expect':{'reply':{'stat':'X'}}}]}",
        "{'id':'x','steps':[{'intent':{},'result':{'outcome':'UNKNOWN'}}]}",
        "{'id':'x','steps':[{'advance':'1w'}]}",
        "{'id':'x','steps':[{'redeliver':0}]}",
        "{'id':'x','steps':[]}",
        "{'id':'x','steps':[{'result':{'outcome':'DONE'}}]}",
        "{'id':'x','policy':{'actions':{'pay.transfer':{'leese':'1s'}}},'steps':[{'intent':{}}]}",
        "{'id':'x','id':'y','operation_id':{'value':null,'expect':'INVALID'}}",
        "not json",
        "{'id':'x','operation_id':{'value':'','expect':'INVALID'}} {'id':'y'}",
        "{'id':'x','operation_id':{'value':'','expect':'INVALID'}}}",
        "{'id':'x','operation_id':{'value':'','expect':'INVALID'}},"
      })
  void aScenarioWithATypoFails(String line) {
    assertThat(difference(line.replace('\'', '"'))).startsWith("Expected");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "'verdict':'REPLAYED'",
        "'verdict':['REPLAYED','SETTLED']",
        "'state':'SUCCEEDED'",
        "'attempt':2",
        "'command':false",
        "'reconcile_command':true",
        "'reply':{'state':'SUCCEEDED'}",
        "'reply':{'marker':'EXECUTED'}",
        "'no_reply':true",
        "'alarm':'CLAIMED'",
        "'code':'BACKOFF'"
      })
  void anExpectationThatDoesNotHoldIsTheFirstDifference(String expectation) {
    String line = "{'id':'x','steps':[{'intent':{},'expect':{" + expectation + "}}]}";
    assertThat(difference(line.replace('\'', '"')))
        .startsWith(expectation.substring(1, expectation.indexOf('\'', 1)));
  }

  @Test
  void theReportCountsAndNames() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("a.jsonl"),
            """
            {"id":"good","steps":[{"intent":{},"expect":{"verdict":"CLAIMED"}}],"commands_total":1}

            {"id":"bad","steps":[{"intent":{}},{"intent":{},"expect":{"verdict":"CLAIMED"}}]}
            {"id":"total","steps":[{"intent":{}}],"commands_total":2}
            """);
    ConformanceReport report = Conformance.run(List.of(file));
    assertThat(report.passed()).isEqualTo(1);
    assertThat(report.failed()).isEqualTo(2);
    assertThat(report.text().lines())
        .containsExactly(
            "good: ok",
            "bad: step 1 (intent): verdict: expected CLAIMED, found DUPLICATE_IN_PROGRESS",
            "total: commands_total: expected 2, found 1",
            "1 passed, 2 failed");
    assertThat(report.json())
        .startsWith("{\"passed\":1,\"failed\":2,\"failures\":[{\"id\":\"bad\"");
  }

  /** Nothing runs when one of the files is not there. */
  @Test
  void aFileThatCannotBeReadIsSaidFirst() throws IOException {
    Path good =
        Files.writeString(folder.resolve("a.jsonl"), "{\"id\":\"a\",\"steps\":[{\"intent\":{}}]}");
    List<String> started = new ArrayList<>();
    assertThatThrownBy(
            () -> Conformance.run(List.of(good, folder.resolve("b.jsonl")), started::add))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageStartingWith("Expected a file of scenarios");
    assertThatThrownBy(() -> Conformance.run(List.of(folder)))
        .isInstanceOf(UncheckedIOException.class);
    assertThat(started).isEmpty();
  }

  /** What a restart starts from is the changelog and nothing else. */
  @Tag("TRN-03")
  @Test
  void aRestartKnowsOnlyWhatTheChangelogHolds() {
    try (VirtualProcessor processor =
        new VirtualProcessor(Policies.with(MissingNode.getInstance()))) {
      StepRecords records = new StepRecords(processor.topics(), processor.serdes());
      Step step = Step.of("s", intent());
      StepRecords.Sent sent = records.intent(0, (Step.Intent) step.verb(), processor.now());
      processor.intent(sent.key(), sent.value());
      processor.restart(Policies.with(MissingNode.getInstance()));
      assertThat(processor.state(sent.recordKey()).name()).isEqualTo(StateName.IN_PROGRESS);

      processor.changelog(NodeNames.LEDGER_STORE).clear();
      processor.restart(Policies.with(MissingNode.getInstance()));
      assertThat(processor.state(sent.recordKey()).name()).isEqualTo(StateName.ABSENT);
    }
  }

  @Test
  void withoutItsDeadlinesALeaseIsOnlyJudgedAtTheNextEvent() {
    try (VirtualProcessor processor =
        new VirtualProcessor(Policies.with(MissingNode.getInstance()))) {
      StepRecords records = new StepRecords(processor.topics(), processor.serdes());
      Step step = Step.of("s", intent());
      StepRecords.Sent sent = records.intent(0, (Step.Intent) step.verb(), processor.now());
      processor.intent(sent.key(), sent.value());
      processor.changelog(NodeNames.DEADLINE_STORE).clear();
      processor.restart(Policies.with(MissingNode.getInstance()));
      processor.advance(Duration.ofMinutes(2));
      assertThat(processor.state(sent.recordKey()).name()).isEqualTo(StateName.IN_PROGRESS);
      processor.drain();

      processor.intent(sent.key(), sent.value());
      VirtualProcessor.Output output = processor.drain();
      assertThat(output.replies()).hasSize(1);
      assertThat(output.replies().get(0).getVerdict()).isEqualTo("HELD_UNKNOWN");
      assertThat(output.journal()).extracting("verdict").contains("LEASE_EXPIRED", "HELD_UNKNOWN");
    }
  }
}
