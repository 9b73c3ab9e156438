package dev.ichido.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Known;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.SideEffectCommand;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What left the topology in one step, held against what was expected. */
record StepOutput(
    List<SideEffectCommand> commands, List<OperationReply> replies, List<JournalEntry> journal) {
  static StepOutput of(VirtualProcessor.Output output) {
    return new StepOutput(output.commands(), output.replies(), output.journal());
  }

  List<OperationReply> repliesTo(String delivery) {
    return replies.stream().filter(it -> it.getDeliveryId().equals(delivery)).toList();
  }

  LinkedHashSet<String> journalKeys() {
    LinkedHashSet<String> keys = new LinkedHashSet<>();
    journal.forEach(it -> keys.add(recordKey(it)));
    return keys;
  }

  /**
   * The first difference for one operation.
   *
   * @param delivery of the step's intent or cancel; null for every other step
   */
  Optional<String> difference(
      Expectation expected, String key, @Nullable String delivery, OperationState state) {
    List<JournalEntry> entries = journal.stream().filter(it -> recordKey(it).equals(key)).toList();
    List<OperationReply> all = replies.stream().filter(it -> recordKey(it, key)).toList();
    List<OperationReply> own = delivery == null ? all : repliesTo(delivery);
    List<SideEffectCommand> sent =
        commands.stream().filter(it -> recordKey(it).equals(key)).toList();
    return Stream.of(
            verdict(expected, entries, delivery == null ? List.of() : own),
            code(expected, entries, own),
            unless(expected.state(), state.name().name(), "state"),
            unless(
                expected.attempt() == null ? null : expected.attempt().toString(),
                Integer.toString(state instanceof Known known ? known.attempt() : 0),
                "attempt"),
            command(expected, sent),
            reconcileCommand(expected, sent),
            alarm(expected, entries),
            noReply(expected, all),
            reply(expected, own))
        .flatMap(Optional::stream)
        .findFirst();
  }

  static String differs(String member, String expected, String found) {
    return "%s: expected %s, found %s".formatted(member, expected, found);
  }

  private static Optional<String> unless(@Nullable String expected, String found, String member) {
    return expected == null || expected.equals(found)
        ? Optional.empty()
        : Optional.of(differs(member, expected, found));
  }

  /** An intent is told its verdict; of every other step the journal tells. */
  private static Optional<String> verdict(
      Expectation expected, List<JournalEntry> entries, List<OperationReply> own) {
    if (expected.verdicts().isEmpty()) {
      return Optional.empty();
    }
    List<String> found =
        own.isEmpty()
            ? entries.stream().map(JournalEntry::getVerdict).distinct().toList()
            : own.stream().map(OperationReply::getVerdict).toList();
    return found.stream().anyMatch(expected.verdicts()::contains)
        ? Optional.empty()
        : Optional.of(differs("verdict", String.join(" or ", expected.verdicts()), list(found)));
  }

  private static Optional<String> code(
      Expectation expected, List<JournalEntry> entries, List<OperationReply> own) {
    if (expected.code() == null) {
      return Optional.empty();
    }
    List<String> found =
        Stream.concat(
                entries.stream().map(JournalEntry::getCode),
                own.stream().map(OperationReply::getCode))
            .filter(Objects::nonNull)
            .distinct()
            .toList();
    return found.contains(expected.code())
        ? Optional.empty()
        : Optional.of(differs("code", expected.code(), list(found)));
  }

  private static Optional<String> command(Expectation expected, List<SideEffectCommand> sent) {
    if (expected.command() == null) {
      return Optional.empty();
    }
    long found = sent.stream().filter(it -> it.getKind() != CommandKind.RECONCILE).count();
    return unless(expected.command() ? "1" : "0", Long.toString(found), "command");
  }

  private static Optional<String> reconcileCommand(
      Expectation expected, List<SideEffectCommand> sent) {
    if (expected.reconcileCommand() == null) {
      return Optional.empty();
    }
    boolean found = sent.stream().anyMatch(it -> it.getKind() == CommandKind.RECONCILE);
    return unless(
        expected.reconcileCommand().toString(), Boolean.toString(found), "reconcile_command");
  }

  private static Optional<String> alarm(Expectation expected, List<JournalEntry> entries) {
    if (expected.alarm() == null) {
      return Optional.empty();
    }
    List<String> found =
        entries.stream().filter(JournalEntry::getAlarm).map(JournalEntry::getVerdict).toList();
    boolean holds = expected.alarm().isEmpty() ? found.isEmpty() : found.contains(expected.alarm());
    return holds
        ? Optional.empty()
        : Optional.of(
            differs("alarm", expected.alarm().isEmpty() ? "none" : expected.alarm(), list(found)));
  }

  private static Optional<String> noReply(Expectation expected, List<OperationReply> all) {
    if (expected.noReply() == null || expected.noReply() == all.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        differs(
            "no_reply",
            expected.noReply().toString(),
            list(all.stream().map(OperationReply::getVerdict).toList())));
  }

  /** Every reply of the step must fit: equal revisions carry equal results. */
  private static Optional<String> reply(Expectation expected, List<OperationReply> own) {
    if (expected.reply().isEmpty()) {
      return Optional.empty();
    }
    if (own.isEmpty()) {
      return Optional.of(differs("reply", "one", "none"));
    }
    for (OperationReply reply : own) {
      for (Map.Entry<String, JsonNode> member : expected.reply().entrySet()) {
        String wanted = member.getValue().isNull() ? "null" : member.getValue().asText();
        String found = String.valueOf(member(reply, member.getKey()));
        if (!wanted.equals(found)) {
          return Optional.of(differs("reply." + member.getKey(), wanted, found));
        }
      }
    }
    return Optional.empty();
  }

  private static @Nullable Object member(OperationReply reply, String name) {
    return switch (name) {
      case "state" -> reply.getState();
      case "marker" -> reply.getMarker();
      case "body" -> reply.getBody();
      case "schema" -> reply.getResultSchema();
      case "original_at" -> reply.getOriginalAt();
      default -> throw ScenarioException.wrong("reply." + name, "a member of a reply");
    };
  }

  static String recordKey(SideEffectCommand command) {
    return StepRecords.recordKey(
        new Step.Address(command.getTenant(), command.getScope(), command.getOperationId()),
        String.valueOf(command.getDeliveryId()));
  }

  static String recordKey(JournalEntry entry) {
    return StepRecords.recordKey(
        new Step.Address(entry.getTenant(), entry.getScope(), entry.getOperationId()),
        String.valueOf(entry.getEventId()));
  }

  private static boolean recordKey(OperationReply reply, String key) {
    return StepRecords.recordKey(
            new Step.Address(reply.getTenant(), reply.getScope(), reply.getOperationId()),
            reply.getDeliveryId())
        .equals(key);
  }

  private static String list(List<String> found) {
    return found.isEmpty() ? "none" : String.join(", ", found);
  }
}
