package dev.ichido.topology.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.decision.Answer;
import dev.ichido.decision.Attempts;
import dev.ichido.decision.Binding;
import dev.ichido.decision.BodyHandle;
import dev.ichido.decision.Marker;
import dev.ichido.decision.OperationState;
import dev.ichido.decision.OperationState.Absent;
import dev.ichido.decision.OperationState.Cancelled;
import dev.ichido.decision.OperationState.Expired;
import dev.ichido.decision.OperationState.FailedRetryable;
import dev.ichido.decision.OperationState.FailedTerminal;
import dev.ichido.decision.OperationState.InProgress;
import dev.ichido.decision.OperationState.Succeeded;
import dev.ichido.decision.OperationState.UnknownReconciliation;
import dev.ichido.decision.OrphanEvidence;
import dev.ichido.decision.OtherEffect;
import dev.ichido.decision.Reconciliation;
import dev.ichido.decision.StateName;
import dev.ichido.decision.StoredResult;
import dev.ichido.decision.Superseded;
import dev.ichido.decision.Waiting;
import dev.ichido.decision.WaitingDelivery;
import dev.ichido.decision.Work;
import dev.ichido.operation.Principal;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StoredOperationSerdeTest {
  /** Each instant differs, to the nanosecond, so that no two fields can be swapped unseen. */
  private static Instant at(int n) {
    return Instant.ofEpochSecond(1_700_000_000L + n, n);
  }

  private static final Binding FULL =
      new Binding(
          new Principal("agent:ä"),
          new Fingerprint(
              1,
              "abcd",
              new TreeMap<>(Map.of("action", "01", "arguments.a", "02")),
              new TreeSet<>(Set.of("trace_id", "at"))),
          "pay",
          "v2",
          "acct:1",
          "wf",
          "step-3",
          "op-other",
          "op-undoing");
  private static final Binding BARE =
      new Binding(new Principal("p"), null, null, null, null, null, null, null, null);
  private static final Attempts ATTEMPTS =
      new Attempts(5, 2, at(1), at(2), "key-x", true, List.of(3, 5), true);
  private static final Attempts PROVEN =
      new Attempts(5, 2, at(1), at(2), "key-x", true, List.of(), true);
  private static final Work WORK = new Work("{\"a\":\"\uD83D\uDE00\"}", "generation=7", at(3));
  private static final Waiting WAITING =
      new Waiting(
          List.of(
              new WaitingDelivery("d-1", new Principal("a")),
              new WaitingDelivery("d-2", new Principal("b"))));
  private static final StoredResult INLINE =
      new StoredResult("r-1", new Answer("ref", "{}", null, 3, "WHY", 201), Marker.EXECUTED, "ff");
  private static final StoredResult HANDLE =
      new StoredResult(
          "r-2",
          new Answer(null, null, new BodyHandle("00", 8_000_000L), null, null, null),
          Marker.RECONCILED,
          null);

  static Stream<OperationState> states() {
    return Stream.of(
        Absent.NOTHING,
        new Absent(new OrphanEvidence("r", 3, null, at(1), at(2))),
        new Absent(new OrphanEvidence("r", 3, "ref", at(1), at(2))),
        new InProgress(1, FULL, ATTEMPTS, WORK, at(4), WAITING),
        new InProgress(Long.MAX_VALUE, BARE, ATTEMPTS, WORK, at(4), Waiting.NOBODY),
        new UnknownReconciliation(
            2,
            FULL,
            ATTEMPTS,
            WORK,
            new Reconciliation(7, at(5), true, 2, List.of("x", "y"), at(6)),
            at(7),
            at(8),
            at(9),
            WAITING),
        new UnknownReconciliation(
            2,
            FULL,
            ATTEMPTS,
            new Work("[]", null, at(3)),
            new Reconciliation(1, at(5), false, 0, List.of(), null),
            at(7),
            at(8),
            null,
            Waiting.NOBODY),
        new FailedRetryable(
            3, FULL, PROVEN, WORK, "r-9", at(4), at(5), at(6), at(7), at(8), WAITING),
        new FailedRetryable(
            3, FULL, PROVEN, WORK, "r-9", at(4), at(5), null, at(7), at(8), Waiting.NOBODY),
        new Succeeded(
            4,
            FULL,
            ATTEMPTS,
            INLINE,
            at(4),
            at(5),
            at(6),
            List.of(
                new OtherEffect("r-3", null, 1, at(7)), new OtherEffect("r-4", "ref", 2, at(8))),
            new Superseded(StateName.FAILED_TERMINAL, at(9))),
        new Succeeded(4, FULL, ATTEMPTS, HANDLE, at(4), at(5), at(6), List.of(), null),
        new FailedTerminal(5, FULL, PROVEN, INLINE, at(4), at(5), at(6)),
        new Expired(6, FULL, 5, StateName.SUCCEEDED, at(4), at(5)),
        new Cancelled(7, BARE, 0, at(4), at(5), at(6)));
  }

  @ParameterizedTest
  @MethodSource("states")
  void whatIsReadIsWhatWasWritten(OperationState state) {
    for (StoredOperation operation :
        List.of(
            new StoredOperation(state, at(10), "00-trace-01"),
            new StoredOperation(state, null, null))) {
      byte[] bytes = StoredOperationSerde.write(operation);
      assertThat(StoredOperationSerde.read(bytes)).isEqualTo(operation);
    }
  }

  @ParameterizedTest
  @MethodSource("states")
  void halfAnOperationIsNone(OperationState state) {
    byte[] bytes = StoredOperationSerde.write(new StoredOperation(state, at(10), "t"));
    for (int length = 0; length < bytes.length; length++) {
      byte[] half = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> StoredOperationSerde.read(half))
          .isInstanceOf(SerializationException.class);
    }
    byte[] more = Arrays.copyOf(bytes, bytes.length + 1);
    assertThatThrownBy(() -> StoredOperationSerde.read(more))
        .isInstanceOf(SerializationException.class);
  }

  @Test
  void everyStateIsTried() {
    assertThat(states().map(OperationState::name).collect(Collectors.toSet()))
        .containsExactlyInAnyOrder(StateName.values());
  }

  @Test
  void anotherVersionIsNotGuessedAt() {
    byte[] bytes = StoredOperationSerde.write(new StoredOperation(Absent.NOTHING, null, null));
    bytes[0] = 5;
    assertThatThrownBy(() -> StoredOperationSerde.read(bytes))
        .isInstanceOf(SerializationException.class)
        .hasMessageContaining("found version 5");
  }

  /**
   * Changelogs that are out there hold these bytes. A change of them needs a version of its own.
   */
  @Test
  void theBytesOfEveryVersionAreFixed() {
    StoredOperation operation =
        new StoredOperation(
            new Expired(6, BARE, 5, StateName.SUCCEEDED, at(4), at(5)), at(10), null);
    String before =
        "01000000006553f10a0000000a"
            + "ffffffff"
            + "06"
            + "0000000000000006"
            + "0000000170"
            + "00"
            + "ffffffffffffffffffffffffffffffffffffffffffffffff";
    String after =
        "00000005"
            + "00000009535543434545444544"
            + "000000006553f10400000004"
            + "000000006553f10500000005";
    assertThat(HexFormat.of().formatHex(StoredOperationSerde.write(operation)))
        .isEqualTo("04" + before + "ffffffff" + after);
    assertThat(
            StoredOperationSerde.read(HexFormat.of().parseHex("03" + before + "ffffffff" + after)))
        .isEqualTo(operation);
    assertThat(
            StoredOperationSerde.read(HexFormat.of().parseHex("02" + before + "ffffffff" + after)))
        .isEqualTo(operation);
    assertThat(StoredOperationSerde.read(HexFormat.of().parseHex("01" + before + after)))
        .isEqualTo(operation);
  }

  /** What the third version did not note; from the fourth on it is, also where it is nothing. */
  @Test
  void volatileMembersAreNotedFromTheFourthVersionOn() {
    TreeMap<String, String> members = new TreeMap<>(Map.of("action", "01"));
    String digests = "00000001" + "00000006616374696f6e" + "000000023031";
    Fingerprint unknown = new Fingerprint(1, "abcd", members);
    String now = HexFormat.of().formatHex(StoredOperationSerde.write(expired(unknown)));
    assertThat(now).contains(digests + "00");
    assertThat(
            StoredOperationSerde.read(
                HexFormat.of().parseHex("03" + now.substring(2).replace(digests + "00", digests))))
        .isEqualTo(expired(unknown));

    for (Set<String> names : List.of(Set.<String>of(), Set.of("a"), Set.of("a", "b"))) {
      StoredOperation noted = expired(new Fingerprint(1, "abcd", members, new TreeSet<>(names)));
      assertThat(StoredOperationSerde.read(StoredOperationSerde.write(noted))).isEqualTo(noted);
    }
  }

  private static StoredOperation expired(Fingerprint fingerprint) {
    Binding binding =
        new Binding(new Principal("p"), fingerprint, "pay", null, null, null, null, null, null);
    return new StoredOperation(
        new Expired(6, binding, 5, StateName.SUCCEEDED, at(4), at(5)), null, null);
  }

  /**
   * As the second version wrote them: attempt 5 of a row that begins with 3, and whether an earlier
   * one is unproven. Which one it was, it did not say.
   */
  @Test
  void unprovenAttemptsOfTheSecondVersionAreAllThatMayBe() {
    assertThat(readOfVersion2(new InProgress(1, BARE, ATTEMPTS, WORK, at(4), WAITING), true))
        .isEqualTo(new InProgress(1, BARE, unproven(3, 4, 5), WORK, at(4), WAITING));
    assertThat(readOfVersion2(new InProgress(1, BARE, ATTEMPTS, WORK, at(4), WAITING), false))
        .isEqualTo(new InProgress(1, BARE, unproven(5), WORK, at(4), WAITING));

    FailedRetryable failed =
        new FailedRetryable(
            3, BARE, PROVEN, WORK, "r-9", at(4), at(5), at(6), at(7), at(8), WAITING);
    assertThat(readOfVersion2(failed, false)).isEqualTo(failed);
    assertThat(readOfVersion2(failed, true))
        .as("what was told as a failure is unknown, and due to be asked for")
        .isEqualTo(
            new UnknownReconciliation(
                3,
                BARE,
                unproven(3, 4),
                WORK,
                new Reconciliation(1, at(4), false, 0, List.of(), null),
                at(4),
                at(5),
                at(6),
                WAITING));
  }

  private static Attempts unproven(Integer... attempts) {
    return new Attempts(5, 2, at(1), at(2), "key-x", true, List.of(attempts), true);
  }

  /** The bytes of this version with the list of attempts put back to the flag that it was. */
  private static OperationState readOfVersion2(OperationState.Open state, boolean earlier) {
    HexFormat hex = HexFormat.of();
    String key = "00000005" + hex.formatHex("key-x".getBytes(UTF_8)) + "01";
    StringBuilder list = new StringBuilder("%08x".formatted(state.attempts().unproven().size()));
    state.attempts().unproven().forEach(attempt -> list.append("%08x".formatted(attempt)));
    String now = hex.formatHex(StoredOperationSerde.write(new StoredOperation(state, null, null)));
    assertThat(now).startsWith("04").contains(key + list);
    String before = "02" + now.substring(2).replace(key + list, key + (earlier ? "01" : "00"));
    return StoredOperationSerde.read(hex.parseHex(before)).state();
  }
}
