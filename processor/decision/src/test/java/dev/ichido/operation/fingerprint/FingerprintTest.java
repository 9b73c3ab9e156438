package dev.ichido.operation.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.ichido.operation.GoldenFile;
import dev.ichido.operation.RefusalCode;
import dev.ichido.operation.TenantKey;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FingerprintTest {
  private static final TenantKey KEY = TenantKey.of(new byte[32]);
  private static final FingerprintVersions VERSIONS = FingerprintVersions.released();

  private static IntentMeaning meaning(String arguments, String... volatileMembers) {
    return new IntentMeaning(
        "pay.transfer", null, "acct:1", arguments, null, Set.of(volatileMembers));
  }

  private static Fingerprint taken(FingerprintResult result) {
    return switch (result) {
      case FingerprintResult.Taken taken -> taken.fingerprint();
      case FingerprintResult.Refused refused -> throw new AssertionError(refused.refusal());
    };
  }

  private static Fingerprint fingerprint(IntentMeaning meaning) {
    return taken(VERSIONS.current().fingerprint(KEY, meaning));
  }

  private static @Nullable String orNull(String column) {
    return column.equals("-") ? null : column;
  }

  static List<List<String>> vectors() {
    return GoldenFile.own("fingerprints.tsv");
  }

  @ParameterizedTest
  @MethodSource("vectors")
  @Tag("FR-06")
  void fingerprintsAreThoseOfTheGoldenFile(List<String> vector) {
    IntentMeaning meaning =
        new IntentMeaning(
            vector.get(1),
            orNull(vector.get(2)),
            orNull(vector.get(3)),
            vector.get(7),
            orNull(vector.get(4)),
            Set.of());
    TenantKey key = TenantKey.of(HexFormat.of().parseHex(vector.get(0)));
    Map<String, String> members =
        vector.subList(8, vector.size()).stream()
            .collect(
                Collectors.toMap(
                    m -> m.substring(0, m.lastIndexOf('=')),
                    m -> m.substring(m.lastIndexOf('=') + 1)));
    assertThat(taken(VERSIONS.require(1).fingerprint(key, meaning)))
        .isEqualTo(new Fingerprint(1, vector.get(5), new TreeMap<>(members), new TreeSet<>()));
  }

  @Test
  @Tag("FP-26")
  @Tag("SCO-04")
  void everyPartOfTheMeaningCounts() {
    IntentMeaning base = new IntentMeaning("a", "1", "t", "{\"x\":1}", "p", Set.of());
    List<IntentMeaning> others =
        List.of(
            new IntentMeaning("b", "1", "t", "{\"x\":1}", "p", Set.of()),
            new IntentMeaning("a", "2", "t", "{\"x\":1}", "p", Set.of()),
            new IntentMeaning("a", null, "t", "{\"x\":1}", "p", Set.of()),
            new IntentMeaning("a", "1", "u", "{\"x\":1}", "p", Set.of()),
            new IntentMeaning("a", "1", null, "{\"x\":1}", "p", Set.of()),
            new IntentMeaning("a", "1", "t", "{\"x\":2}", "p", Set.of()),
            new IntentMeaning("a", "1", "t", "{\"x\":1}", "q", Set.of()),
            new IntentMeaning("a", "1", "t", "{\"x\":1}", null, Set.of()),
            new IntentMeaning("a", "1", null, "{\"x\":1}", "t", Set.of()),
            new IntentMeaning("a", "t", "1", "{\"x\":1}", "p", Set.of()),
            new IntentMeaning("a", "", "t", "{\"x\":1}", "p", Set.of()));
    Fingerprint fingerprint = fingerprint(base);
    assertThat(others.stream().map(other -> fingerprint(other).digest()))
        .doesNotHaveDuplicates()
        .doesNotContain(fingerprint.digest());
    assertThat(others.stream().map(other -> fingerprint(other).differingMembers(fingerprint)))
        .containsExactly(
            List.of("action"),
            List.of("action_version"),
            List.of("action_version"),
            List.of("target"),
            List.of("target"),
            List.of("arguments.x"),
            List.of("precondition"),
            List.of("precondition"),
            List.of("precondition", "target"),
            List.of("action_version", "target"),
            List.of("action_version"));
  }

  @Test
  void theDigestIsKeyed() {
    byte[] secret = new byte[32];
    secret[31] = 1;
    Fingerprint other =
        taken(VERSIONS.current().fingerprint(TenantKey.of(secret), meaning("{\"a\":1}")));
    Fingerprint mine = fingerprint(meaning("{\"a\":1}"));
    assertThat(other.matches(mine)).isFalse();
    assertThat(other.differingMembers(mine)).containsExactly("action", "arguments.a", "target");
  }

  @Test
  @Tag("FP-22")
  void onlyDeclaredVolatileMembersMayChange() {
    String[] declared = {"client_timestamp", "trace_id"};
    Fingerprint first =
        fingerprint(
            meaning("{\"amount\":1,\"client_timestamp\":\"10:00\",\"trace_id\":1}", declared));
    assertThat(
            fingerprint(meaning("{\"amount\":1,\"client_timestamp\":2}", declared)).matches(first))
        .isTrue();
    Fingerprint undeclared = fingerprint(meaning("{\"amount\":1,\"request_id\":\"q\"}", declared));
    assertThat(undeclared.matches(first)).isFalse();
    assertThat(undeclared.differingMembers(first)).containsExactly("arguments.request_id");
    assertThat(fingerprint(meaning("{\"amount\":1,\"x\":{\"trace_id\":1}}", declared)))
        .isNotEqualTo(fingerprint(meaning("{\"amount\":1,\"x\":{\"trace_id\":2}}", declared)));
  }

  /** Else a changed list makes a mismatch of every retry. */
  @Test
  @Tag("FP-21")
  @Tag("FP-22")
  void aFingerprintNotesWhatWasLeftOutSoThatADuplicateIsComparedUnderTheSameList() {
    String arguments = "{\"amount\":1,\"request_id\":\"q\",\"trace_id\":1}";
    String[] today = {"request_id"};
    Fingerprint stored = fingerprint(meaning(arguments, "trace_id", "client_timestamp"));
    assertThat(stored.volatileMembers()).containsExactly("client_timestamp", "trace_id");
    assertThat(fingerprint(meaning(arguments, today)).matches(stored)).isFalse();
    String[] noted = Objects.requireNonNull(stored.volatileMembers()).toArray(String[]::new);
    assertThat(fingerprint(meaning(arguments, noted)).matches(stored)).isTrue();
    assertThat(fingerprint(meaning("{}")).volatileMembers()).isEmpty();
    assertThat(stored.bare()).isEqualTo(new Fingerprint(1, stored.digest(), new TreeMap<>()));
  }

  @Test
  void aVolatileMemberIsReadAsStrictlyAsAnyOther() {
    FingerprintResult result =
        VERSIONS.current().fingerprint(KEY, meaning("{\"trace_id\":1e999}", "trace_id"));
    assertThat(result)
        .isInstanceOfSatisfying(
            FingerprintResult.Refused.class,
            refused ->
                assertThat(refused.refusal().code()).isEqualTo(RefusalCode.ARGUMENTS_NUMBER_RANGE));
  }

  @Test
  @Tag("FP-25")
  @Tag("FR-04")
  void aMismatchNamesTheFieldsAndNeverTheirValues() {
    Fingerprint first = fingerprint(meaning("{\"amount\":\"10.00\",\"to\":\"alice\",\"z\":[1]}"));
    Fingerprint second =
        fingerprint(meaning("{\"amount\":\"10.01\",\"to\":\"mallory\",\"memo\":null,\"z\":[1]}"));
    assertThat(first.differingMembers(second))
        .isEqualTo(second.differingMembers(first))
        .containsExactly("arguments.amount", "arguments.memo", "arguments.to");
    assertThat(first.toString()).doesNotContain("10.0", "alice");
    assertThat(first.differingMembers(first)).isEmpty();
  }

  @Test
  void anArgumentNamedLikeAPartIsNotTaken() {
    Fingerprint first = fingerprint(meaning("{\"target\":1,\"\":1}"));
    assertThat(first.memberDigests().keySet())
        .containsExactly("action", "arguments.", "arguments.target", "target");
  }

  @Test
  void manyOrLongNamesAreDigestedAsOne() {
    Fingerprint sixtyFour = fingerprint(meaning(members(64)));
    Fingerprint sixtyFive = fingerprint(meaning(members(65)));
    assertThat(sixtyFour.memberDigests()).hasSize(66);
    assertThat(sixtyFive.memberDigests().keySet()).containsExactly("action", "arguments", "target");
    assertThat(sixtyFour.differingMembers(sixtyFive)).containsExactly("arguments");
    assertThat(sixtyFive.differingMembers(sixtyFour)).containsExactly("arguments");
    assertThat(fingerprint(meaning("{\"" + "n".repeat(128) + "\":1}")).memberDigests())
        .containsKey("arguments." + "n".repeat(128));
    assertThat(fingerprint(meaning("{\"" + "n".repeat(129) + "\":1}")).memberDigests().keySet())
        .containsExactly("action", "arguments", "target");
    assertThat(fingerprint(meaning("[1]")).memberDigests()).containsKey("arguments");
  }

  private static String members(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "\"m" + i + "\":" + i)
        .collect(Collectors.joining(",", "{", "}"));
  }

  /** Takes blanks at the end of the target for nothing; it proves only that versions live apart. */
  private static final class SecondVersion implements Fingerprinter {
    @Override
    public int version() {
      return 2;
    }

    @Override
    public FingerprintResult fingerprint(TenantKey key, IntentMeaning meaning) {
      String target = meaning.target();
      FingerprintResult.Taken under1 =
          (FingerprintResult.Taken)
              new FingerprinterV1()
                  .fingerprint(
                      key,
                      new IntentMeaning(
                          meaning.action(),
                          meaning.actionVersion(),
                          target == null ? null : target.stripTrailing(),
                          meaning.arguments(),
                          meaning.precondition(),
                          meaning.volatileMembers()));
      Fingerprint first = under1.fingerprint();
      return new FingerprintResult.Taken(
          new Fingerprint(2, first.digest(), first.memberDigests()), under1.arguments());
    }
  }

  @Test
  @Tag("FP-21")
  void aDuplicateIsComparedUnderTheVersionStoredWithItsOperation() {
    IntentMeaning meaning = meaning("{\"amount\":1}");
    Fingerprint stored = fingerprint(meaning);
    FingerprintVersions upgraded =
        new FingerprintVersions(List.of(new SecondVersion(), new FingerprinterV1()));
    assertThat(taken(upgraded.current().fingerprint(KEY, meaning)).version()).isEqualTo(2);
    assertThat(taken(upgraded.current().fingerprint(KEY, meaning)).matches(stored)).isFalse();
    assertThat(taken(upgraded.require(stored.version()).fingerprint(KEY, meaning)).matches(stored))
        .isTrue();
  }

  @Test
  void fingerprintsOfTwoVersionsAreNotCompared() {
    Fingerprint one = new Fingerprint(1, "d", new TreeMap<>());
    Fingerprint two = new Fingerprint(2, "d", new TreeMap<>());
    assertThat(one.matches(two)).isFalse();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> one.differingMembers(two))
        .withMessageContaining("they are 1 and 2");
  }

  @Test
  void anUnknownVersionStopsTheTask() {
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(() -> VERSIONS.require(7))
        .withMessageContaining("Expected a fingerprint version of [1]")
        .withMessageContaining("has 7");
  }

  @Test
  void eachVersionHasOneFingerprinter() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new FingerprintVersions(List.of()))
        .withMessageContaining("at least one");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> new FingerprintVersions(List.of(new FingerprinterV1(), new FingerprinterV1())))
        .withMessageContaining("version 1 has two");
  }

  @Test
  void aFingerprintKeepsItsOwnCopyOfTheMembers() {
    TreeMap<String, String> members = new TreeMap<>(new HashMap<>(Map.of("a", "1")));
    Fingerprint fingerprint = new Fingerprint(1, "d", members);
    members.put("b", "2");
    assertThat(fingerprint.memberDigests()).containsOnlyKeys("a");
  }
}
