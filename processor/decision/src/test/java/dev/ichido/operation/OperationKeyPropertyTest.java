package dev.ichido.operation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;

class OperationKeyPropertyTest {
  private static final List<String> ADVERSARIAL =
      List.of(
          "/",
          "%",
          "%2F",
          "%25",
          "k1",
          "k1/",
          "2F",
          ":",
          "_",
          ".",
          "..",
          "~",
          "-",
          " ",
          "\0",
          "a",
          "A",
          "\u00e9",
          "e\u0301",
          "\u00c3\u00a9",
          "\u20ac",
          "\ud83d\ude02",
          "\ud83d",
          "\ude02",
          "?",
          "\ufffd",
          "\ufeff",
          "\r\n",
          "+");

  @Property(tries = 4000)
  @Tag("FR-08")
  void recordKeysAreEqualExactlyWhenAllPartsAre(
      @ForAll("keys") OperationKey one, @ForAll("keys") OperationKey other) {
    assertThat(one.recordKey().equals(other.recordKey())).isEqualTo(one.equals(other));
  }

  @Property(tries = 2000)
  void aRecordKeyGivesItsOperationBack(@ForAll("keys") OperationKey key) {
    assertThat(OperationKey.parse(key.recordKey())).contains(key);
  }

  @Property(tries = 2000)
  void aRecordKeyIsVisibleAsciiOfFourParts(@ForAll("keys") OperationKey key) {
    assertThat(key.recordKey())
        .matches("k1(/([A-Za-z0-9._~-]|%[0-9A-F]{2})*){3}")
        .satisfies(
            text ->
                assertThat(text.getBytes(StandardCharsets.UTF_8).length).isEqualTo(text.length()));
  }

  @Property(tries = 2000)
  void whateverIsReadIsTheOneSpelling(@ForAll("nearKeys") String text) {
    OperationKey.parse(text).ifPresent(key -> assertThat(key.recordKey()).isEqualTo(text));
  }

  @Provide
  Arbitrary<OperationKey> keys() {
    Arbitrary<String> part =
        Arbitraries.of(ADVERSARIAL).list().ofMaxSize(4).map(pieces -> String.join("", pieces));
    return Combinators.combine(part, part, part).as(OperationKey::new);
  }

  @Provide
  Arbitrary<String> nearKeys() {
    return Arbitraries.strings()
        .withChars("k1/%0123456789ABCDEFabc:~")
        .ofMaxLength(40)
        .map(tail -> "k1/" + tail);
  }
}
