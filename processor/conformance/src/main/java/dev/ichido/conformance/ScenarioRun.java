package dev.ichido.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.decision.StateName;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.topology.policy.PolicyLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of one scenario and stops at the first difference. In the end the journal is
 * replayed and held against the ledger, and every operation has the one deadline it should.
 */
final class ScenarioRun implements AutoCloseable {
  private final VirtualProcessor processor;
  private final StepRecords records;
  private final List<StepRecords.@Nullable Sent> sent = new ArrayList<>();
  private final List<JournalEntry> journal = new ArrayList<>();
  private final Map<String, SideEffectCommand> reads = new HashMap<>();

  /** Record keys by operation id, the latest last, for expectations that name only the id. */
  private final Map<String, String> keys = new HashMap<>();

  private JsonNode policy;
  private String latestKey = "";
  private int commandsTotal;

  /**
   * The first difference.
   *
   * @param step index of the step; -1 when no step is to blame
   */
  record Difference(int step, String verb, String text) {}

  ScenarioRun(JsonNode policy) {
    this.policy = policy;
    this.processor = new VirtualProcessor(Policies.with(policy));
    this.records = new StepRecords(processor.topics(), processor.serdes(), processor::state);
  }

  Optional<Difference> run(Scenario.Steps scenario) {
    for (int i = 0; i < scenario.steps().size(); i++) {
      Step step = scenario.steps().get(i);
      StepRecords.Sent record = perform(i, step.verb());
      sent.add(record);
      if (record != null) {
        latestKey = record.recordKey();
      }
      StepOutput output = StepOutput.of(processor.drain());
      keep(output);
      Optional<String> difference = check(step, record, output);
      if (difference.isPresent()) {
        String verb = step.verb().getClass().getSimpleName().toLowerCase(Locale.ROOT);
        return Optional.of(new Difference(i, verb, difference.get()));
      }
    }
    Integer expected = scenario.commandsTotal();
    if (expected != null && expected != commandsTotal) {
      return Optional.of(
          new Difference(
              -1,
              "",
              StepOutput.differs(
                  "commands_total", expected.toString(), Integer.toString(commandsTotal))));
    }
    long armed =
        processor.states().values().stream().filter(it -> it.nextDeadline().isPresent()).count();
    if (armed != processor.deadlines()) {
      return Optional.of(
          new Difference(
              -1,
              "",
              StepOutput.differs(
                  "deadlines", Long.toString(armed), Integer.toString(processor.deadlines()))));
    }
    return JournalFold.difference(journal, processor.states())
        .map(text -> new Difference(-1, "", text));
  }

  @Override
  public void close() {
    processor.close();
  }

  private StepRecords.@Nullable Sent perform(int index, Step.Verb verb) {
    return switch (verb) {
      case Step.Intent it -> onIntents(it.address(), records.intent(index, it, processor.now()));
      case Step.Cancel it -> onIntents(it.address(), records.cancel(index, it, processor.now()));
      case Step.Result it ->
          onResults(it.address(), records.result(index, it, readOf(it.address()), processor.now()));
      case Step.Reconcile it ->
          onResults(it.address(), records.reconcile(index, it, processor.now()));
      case Step.Resolve it -> onResults(it.address(), records.resolve(index, it, processor.now()));
      case Step.Advance it -> {
        processor.advance(it.by());
        yield null;
      }
      case Step.Restart it -> {
        if (it.policy() != null) {
          policy = policy.isMissingNode() ? it.policy() : PolicyLoader.overlay(policy, it.policy());
        }
        processor.restart(Policies.with(policy));
        yield null;
      }
      case Step.Redeliver it -> redeliver(index, it.step());
    };
  }

  /** The read that a result answers; null where the ledger knows the id: then it is a write's. */
  private @Nullable SideEffectCommand readOf(Step.Address address) {
    String key = StepRecords.recordKey(address, "");
    return processor.state(key).name() == StateName.ABSENT ? reads.get(key) : null;
  }

  private StepRecords.Sent redeliver(int index, int step) {
    StepRecords.Sent again = step >= 0 && step < sent.size() ? sent.get(step) : null;
    if (again == null) {
      throw ScenarioException.wrong(
          "steps[" + index + "].redeliver", "the index of an earlier step that sent a record");
    }
    return pipe(again);
  }

  private StepRecords.Sent onIntents(Step.Address address, StepRecords.Sent record) {
    know(address, record);
    return pipe(record);
  }

  private StepRecords.Sent onResults(Step.Address address, StepRecords.Sent record) {
    know(address, record);
    return pipe(record);
  }

  private void know(Step.Address address, StepRecords.Sent record) {
    if (address.operation() != null) {
      keys.put(address.operation(), record.recordKey());
    }
  }

  private StepRecords.Sent pipe(StepRecords.Sent record) {
    if (record.delivery() != null) {
      processor.intent(record.key(), record.value());
    } else {
      processor.result(record.key(), record.value());
    }
    return record;
  }

  private void keep(StepOutput output) {
    journal.addAll(output.journal());
    for (SideEffectCommand command : output.commands()) {
      if (command.getKind() != CommandKind.RECONCILE) {
        commandsTotal++;
      }
      if (command.getKind() == CommandKind.READ) {
        reads.put(StepOutput.recordKey(command), command);
      } else {
        reads.remove(StepOutput.recordKey(command));
      }
    }
  }

  private Optional<String> check(Step step, StepRecords.@Nullable Sent record, StepOutput output) {
    if (record != null && record.delivery() != null) {
      int replies = output.repliesTo(record.delivery()).size();
      if (replies != 1) {
        return Optional.of(
            StepOutput.differs("replies to the delivery", "1", Integer.toString(replies)));
      }
    }
    Expectation expectation = step.expectation();
    if (expectation == null) {
      return Optional.empty();
    }
    Optional<String> first = Optional.empty();
    for (String key : candidates(expectation, record, output)) {
      Optional<String> difference =
          output.difference(
              expectation, key, record == null ? null : record.delivery(), processor.state(key));
      if (difference.isEmpty()) {
        return Optional.empty();
      }
      first = first.isPresent() ? first : difference;
    }
    return first;
  }

  /** Which operations a step may be about; the first is the likeliest. */
  private Iterable<String> candidates(
      Expectation expectation, StepRecords.@Nullable Sent record, StepOutput output) {
    String named = expectation.operation();
    if (named != null) {
      return List.of(
          keys.getOrDefault(
              named, StepRecords.recordKey(new Step.Address("t1", "global", named), "")));
    }
    if (record != null) {
      return List.of(record.recordKey());
    }
    LinkedHashSet<String> fired = output.journalKeys();
    if (fired.isEmpty() || fired.contains(latestKey)) {
      LinkedHashSet<String> latestFirst = new LinkedHashSet<>(List.of(latestKey));
      latestFirst.addAll(fired);
      return latestFirst;
    }
    return fired;
  }
}
