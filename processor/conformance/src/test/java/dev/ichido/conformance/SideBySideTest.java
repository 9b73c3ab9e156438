package dev.ichido.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.StateName;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.topology.policy.LocatedTree;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Operations that have to do with each other and share no record. */
class SideBySideTest {
  private static final String OUTER = "op-0000000000000001";
  private static final String INNER = "op-0000000000000002";

  private final VirtualProcessor processor = new VirtualProcessor(Policies.with(node("{}")));
  private final StepRecords records = new StepRecords(processor.topics(), processor.serdes());
  private int step;

  @AfterEach
  void close() {
    processor.close();
  }

  private static JsonNode node(String text) {
    return LocatedTree.read("step", text).root();
  }

  /** What left for it. */
  private VirtualProcessor.Output intent(String members) {
    Step.Verb verb = Step.of("s", node("intent: " + members)).verb();
    StepRecords.Sent sent = records.intent(step++, (Step.Intent) verb, processor.now());
    processor.intent(sent.key(), sent.value());
    return processor.drain();
  }

  private VirtualProcessor.Output result(String operation, String rest) {
    Step.Verb verb =
        Step.of("s", node("result: { operation: " + operation + ", attempt: 1, " + rest + " }"))
            .verb();
    StepRecords.Sent sent = records.result(step++, (Step.Result) verb, null, processor.now());
    processor.result(sent.key(), sent.value());
    return processor.drain();
  }

  private OperationState state(String tenant, String operation) {
    return processor.state(
        StepRecords.recordKey(new Step.Address(tenant, "global", operation), ""));
  }

  private static List<String> verdicts(VirtualProcessor.Output output) {
    return output.replies().stream().map(OperationReply::getVerdict).toList();
  }

  @Tag("FR-43")
  @Test
  void anOperationWithinAnotherWritesNothingIntoItsRecord() {
    intent("{ operation: " + OUTER + ", arguments: '{\"order\":1}' }");
    OperationState outerRuns = state("t1", OUTER);
    intent("{ operation: " + INNER + ", arguments: '{\"pay\":1}' }");
    assertThat(state("t1", OUTER)).isEqualTo(outerRuns);
    result(INNER, "outcome: SUCCEEDED, remote_ref: r-2, body: '\"inner\"'");
    assertThat(state("t1", OUTER)).isEqualTo(outerRuns);
    OperationState innerDone = state("t1", INNER);
    assertThat(innerDone.name()).isEqualTo(StateName.SUCCEEDED);
    result(OUTER, "outcome: SUCCEEDED, remote_ref: r-1, body: '\"outer\"'");
    assertThat(state("t1", INNER)).isEqualTo(innerDone);
    assertThat(intent("{ operation: " + OUTER + ", arguments: '{\"order\":1}' }").replies())
        .extracting(OperationReply::getVerdict, OperationReply::getRemoteReference)
        .containsExactly(tuple("REPLAYED", "r-1"));
    assertThat(intent("{ operation: " + INNER + ", arguments: '{\"pay\":1}' }").replies())
        .extracting(OperationReply::getVerdict, OperationReply::getRemoteReference)
        .containsExactly(tuple("REPLAYED", "r-2"));
  }

  @Tag("MS-01")
  @Test
  void theRetryOfTheWholeReplaysWhatIsDoneAndRunsNothingThatIsUnknown() {
    intent("{ operation: " + OUTER + " }");
    result(OUTER, "outcome: SUCCEEDED, remote_ref: r-1");
    intent("{ operation: " + INNER + " }");
    result(INNER, "outcome: UNKNOWN");
    VirtualProcessor.Output done = intent("{ operation: " + OUTER + " }");
    assertThat(verdicts(done)).containsExactly("REPLAYED");
    VirtualProcessor.Output unknown = intent("{ operation: " + INNER + " }");
    assertThat(verdicts(unknown)).containsExactly("HELD_UNKNOWN");
    assertThat(done.commands()).isEmpty();
    assertThat(unknown.commands()).isEmpty();
  }

  @Test
  void aCommandSaysHowOldItsClaimMayBecomeWhereAbsenceCanBeProven() {
    assertThat(intent("{}").commands())
        .extracting(SideEffectCommand::getStartWithinMs)
        .containsExactly(30_000L);
    assertThat(intent("{ operation: " + INNER + ", action: kb.search }").commands())
        .extracting(SideEffectCommand::getStartWithinMs)
        .containsOnlyNulls();
  }

  @Tag("SCO-01")
  @Test
  void theSameIdInAnotherTenantIsAnotherOperation() {
    intent("{}");
    result(OUTER, "outcome: SUCCEEDED, remote_ref: r-1");
    OperationState first = state("t1", OUTER);
    VirtualProcessor.Output other = intent("{ tenant: t2, principal: 'agent:c' }");
    assertThat(verdicts(other)).containsExactly("CLAIMED");
    assertThat(other.replies()).noneMatch(it -> it.getRemoteReference() != null);
    assertThat(other.commands()).extracting(SideEffectCommand::getTenant).containsExactly("t2");
    assertThat(state("t1", OUTER)).isEqualTo(first);
  }
}
