package dev.ichido.operation.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.ichido.operation.GoldenFile;
import dev.ichido.operation.Refusal;
import dev.ichido.operation.RefusalCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CanonicalFormTest {
  private static final Path JCS = Path.of("../../../shared/data/jcs");

  private static String canonical(String json) {
    return switch (CanonicalForm.read(json)) {
      case CanonicalForm.Reading.Read read -> read.form().text();
      case CanonicalForm.Reading.Refused refused ->
          throw new AssertionError(refused.refusal().detail());
    };
  }

  private static Refusal refusal(String json) {
    return switch (CanonicalForm.read(json)) {
      case CanonicalForm.Reading.Read read -> throw new AssertionError(read.form().text());
      case CanonicalForm.Reading.Refused refused -> refused.refusal();
    };
  }

  @Nested
  class Numbers {
    @ParameterizedTest
    @CsvSource({
      "0, 0",
      "-0, 0",
      "-0.0, 0",
      "0e308, 0",
      "0E-308, 0",
      "0.000e+5, 0",
      "1, 1",
      "1.0, 1",
      "1e0, 1",
      "10e-1, 1",
      "0.1e1, 1",
      "-1.50, -1.5",
      "1.10, 1.1",
      "100, 100",
      "1e2, 100",
      "12e1, 120",
      "1E30, 1000000000000000000000000000000",
      "1e+30, 1000000000000000000000000000000",
      "1.5e21, 1500000000000000000000",
      "9007199254740992, 9007199254740992",
      "9007199254740993, 9007199254740993",
      "333333333.33333329, 333333333.33333329",
      "4.50, 4.5",
      "2e-3, 0.002",
      "0.000000000000000000000000001, 1e-27",
      "0.000001, 0.000001",
      "0.00000123, 0.00000123",
      "0.0000001, 1e-7",
      "0.000000123, 1.23e-7",
      "-1.23e-7, -1.23e-7",
      "123456789012345678901.5, 123456789012345678901.5",
      "1234567890123456789012.5, 1.2345678901234567890125e+21",
      "0.10000000000000000555, 0.10000000000000000555",
      "0.1, 0.1",
      "1e-308, 1e-308",
      "5.00e-308, 5e-308",
      "1e007, 10000000",
      "1e0000000000000000000000000000000000, 1"
    })
    @Tag("FP-04")
    @Tag("FP-06")
    @Tag("FP-07")
    @Tag("FP-09")
    void aNumberHasOneExactSpelling(String written, String canonical) {
      assertThat(canonical(written)).isEqualTo(canonical);
    }

    @Test
    void theLargestNumbersAreTaken() {
      assertThat(canonical("1e308")).isEqualTo("1" + "0".repeat(308));
      assertThat(canonical("9".repeat(100))).isEqualTo("9".repeat(100));
      assertThat(canonical("-" + "9".repeat(50) + "." + "8".repeat(50))).startsWith("-9.9999");
      assertThat(canonical("0." + "0".repeat(98) + "1")).isEqualTo("1e-99");
    }

    @Test
    void numbersOutOfRangeAreRefused() {
      for (String number :
          List.of(
              "1e309",
              "1E+309",
              "1e-309",
              "10e308",
              "0.1e309",
              "0.1e-308",
              "0e309",
              "0e-309",
              "1e99999999999999999999",
              "-1e-99999999999",
              "1E400",
              "123e307",
              "0.01e-307")) {
        assertThat(refusal(number).code()).isEqualTo(RefusalCode.ARGUMENTS_NUMBER_RANGE);
        assertThat(refusal("[1, " + number + "]").detail()).contains("starts at offset");
      }
      assertThat(refusal("[" + "9".repeat(101) + "]").detail())
          .contains("a number of 101 digits starts at offset 1");
      assertThat(refusal("[1, 1" + "0".repeat(50) + "." + "0".repeat(50) + "]").detail())
          .contains("a number of 101 digits starts at offset 4");
      assertThat(refusal("[10e308]").detail()).contains("a number beyond that starts at offset 1");
      assertThat(refusal("[1e309]").detail())
          .contains("an exponent beyond that starts at offset 2");
    }
  }

  @Nested
  class Texts {
    @Test
    @Tag("FP-03")
    void escapesAreThoseOfRfc8785() {
      assertThat(canonical("\"\\u0041\"")).isEqualTo("\"A\"");
      assertThat(canonical("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""))
          .isEqualTo("\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
      assertThat(canonical("\"\\u0000\\u000b\\u000F\\u001f\\u0008\\u0009\\u000a\\u000c\\u000d\""))
          .isEqualTo("\"\\u0000\\u000b\\u000f\\u001f\\b\\t\\n\\f\\r\"");
      assertThat(canonical("\"\\u007f\\u0080\\u20AC\\ud83d\\uDE02\""))
          .isEqualTo("\"\u007f\u0080\u20ac\ud83d\ude02\"");
      assertThat(canonical("\"a\ud83d\ude02b\"")).isEqualTo("\"a\ud83d\ude02b\"");
    }

    @Test
    @Tag("FP-14")
    void textsAreNotNormalised() {
      assertThat(canonical("\"\\u00e9\"")).isNotEqualTo(canonical("\"e\\u0301\""));
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "\"\\ud83d\"",
          "\"\\ude02\"",
          "\"\ud83d\"",
          "\"\ude02\"",
          "\"\\ud83dx\"",
          "\"\\ud83d\\ud83d\\ude02\"",
          "\"\\ude02\\ud83d\"",
          "\"a\\ud83d\\ude02\\ud83d\"",
          "{\"\\ud83d\":1}",
          "[{\"a\":[\"\\udc00\"]}]"
        })
    @Tag("FP-15")
    void halfASurrogatePairIsRefused(String json) {
      assertThat(refusal(json).code()).isEqualTo(RefusalCode.ARGUMENTS_LONE_SURROGATE);
    }
  }

  @Nested
  class Structures {
    @Test
    @Tag("FP-01")
    @Tag("FR-41")
    void membersAreOrderedByUtf16() throws NoSuchAlgorithmException {
      String canonical = canonical("{\"b\":{\"d\":2,\"c\":1},\"a\":1}");
      assertThat(canonical).isEqualTo("{\"a\":1,\"b\":{\"c\":1,\"d\":2}}");
      byte[] sha256 =
          MessageDigest.getInstance("SHA-256").digest(canonical.getBytes(StandardCharsets.UTF_8));
      assertThat(HexFormat.of().formatHex(sha256))
          .isEqualTo("e76ac5ae6490996b6dca973d72bbd741c6f70ce416729c49c3c0b61241ec5644");
      // By code point the second name would come first.
      assertThat(canonical("{\"\ufb33\":1,\"\ud83d\ude02\":2}"))
          .isEqualTo("{\"\ud83d\ude02\":2,\"\ufb33\":1}");
    }

    @Test
    @Tag("FP-16")
    void namesThatDifferByCaseAreTwoMembers() {
      assertThat(canonical("{\"a\":1,\"A\":2}")).isEqualTo("{\"A\":2,\"a\":1}");
    }

    @Test
    @Tag("FP-02")
    void arraysKeepTheirOrder() {
      assertThat(canonical("[ \"b\" , \"a\" ]")).isEqualTo("[\"b\",\"a\"]");
    }

    @Test
    @Tag("FP-13")
    void anAbsentMemberIsNotNull() {
      assertThat(canonical("{\"memo\":null}")).isEqualTo("{\"memo\":null}");
      assertThat(canonical("{ }")).isEqualTo("{}");
    }

    @Test
    @Tag("FP-10")
    void typesAreToldApart() {
      assertThat(
              List.of(
                  canonical("1"),
                  canonical("\"1\""),
                  canonical("true"),
                  canonical("\"true\""),
                  canonical("false"),
                  canonical("null"),
                  canonical("[]"),
                  canonical("{}"),
                  canonical("[1]"),
                  canonical("[[]]")))
          .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "{\"amount\":10,\"amount\":9999}",
          "{\"amount\":10,\"\\u0061mount\":10}",
          "{\"a\":{\"amount\":1,\"amount\":1}}",
          "{\"items\":[{\"sku\":\"a\"},{\"amount\":\"b\",\"amount\":\"b\"}]}"
        })
    @Tag("FP-12")
    void aMemberThatIsNamedTwiceIsRefused(String json) {
      assertThat(refusal(json).code()).isEqualTo(RefusalCode.ARGUMENTS_DUPLICATE_MEMBER);
      assertThat(refusal(json).detail()).contains("the member \"amount\" is named again at offset");
    }

    @Test
    void aRefusalQuotesOnlyTheStartOfANameAndNoControlCharacters() {
      String name = "x\\u000a" + "y".repeat(62);
      String json = "{\"" + name + "z\":1,\"" + name + "z\":2}";
      assertThat(refusal(json).detail())
          .contains("the member \"x?" + "y".repeat(62) + "\" is named again");
    }

    @Test
    void nestingOf200IsTakenAnd201Refused() {
      assertThat(canonical("[".repeat(200) + "]".repeat(200)))
          .isEqualTo("[".repeat(200) + "]".repeat(200));
      String objects = "{\"a\":".repeat(200) + "1" + "}".repeat(200);
      assertThat(canonical(objects)).isEqualTo(objects);
      assertThat(refusal("[".repeat(201) + "]".repeat(201)).code())
          .isEqualTo(RefusalCode.ARGUMENTS_TOO_DEEP);
      assertThat(refusal("[" + objects + "]").code()).isEqualTo(RefusalCode.ARGUMENTS_TOO_DEEP);
      assertThat(refusal("{\"a\":" + objects + "}").code())
          .isEqualTo(RefusalCode.ARGUMENTS_TOO_DEEP);
      assertThat(refusal("[".repeat(1_000_000)).detail()).contains("at offset 200");
    }

    @Test
    void siblingsDoNotAddToTheDepth() {
      String nested = "[".repeat(199) + "]".repeat(199);
      assertThat(canonical("[" + nested + "," + nested + "]")).hasSize(2 * 398 + 3);
    }

    @Test
    void theDeepestTextFitsASmallStack() throws InterruptedException {
      AtomicReference<Object> outcome = new AtomicReference<>("none");
      String deep = "[{\"a\":".repeat(100) + "1" + "}]".repeat(100);
      Thread small =
          new Thread(
              null,
              () -> {
                try {
                  outcome.set(canonical(deep));
                } catch (StackOverflowError e) {
                  outcome.set(e);
                }
              },
              "small stack",
              256 * 1024);
      small.start();
      small.join();
      assertThat(outcome.get()).isEqualTo(deep);
    }

    @Test
    void oneMebibyteIsTakenAndMoreIsRefused() {
      int room = CanonicalForm.MAX_BYTES - 2;
      assertThat(canonical('"' + "x".repeat(room) + '"')).hasSize(CanonicalForm.MAX_BYTES);
      assertThat(refusal('"' + "x".repeat(room + 1) + '"').detail()).contains("they have 1048577");
      assertThat(canonical('"' + "\u00e9".repeat(room / 2) + '"')).hasSize(room / 2 + 2);
      assertThat(refusal('"' + "\u00e9".repeat(room / 2) + "x\"").code())
          .isEqualTo(RefusalCode.ARGUMENTS_TOO_LARGE);
      assertThat(canonical('"' + "\u07ff".repeat(room / 2) + '"')).hasSize(room / 2 + 2);
      assertThat(refusal('"' + "\u0800".repeat(room / 3 + 1) + '"').code())
          .isEqualTo(RefusalCode.ARGUMENTS_TOO_LARGE);
      assertThat(canonical('"' + "\u0800".repeat(room / 3) + '"')).hasSize(room / 3 + 2);
      assertThat(canonical('"' + "\ud83d\ude02".repeat(room / 4) + '"')).hasSize(room / 4 * 2 + 2);
      assertThat(refusal('"' + "\ud83d\ude02".repeat(room / 4 + 1) + '"').code())
          .isEqualTo(RefusalCode.ARGUMENTS_TOO_LARGE);
      assertThat(refusal(" ".repeat(CanonicalForm.MAX_BYTES + 1)).code())
          .isEqualTo(RefusalCode.ARGUMENTS_TOO_LARGE);
    }

    @Test
    void membersAreLeftOutOnlyAtTheTop() {
      CanonicalForm.Reading.Read read =
          (CanonicalForm.Reading.Read)
              CanonicalForm.read("{\"trace\":1,\"a\":{\"trace\":2},\"b\":[]}");
      assertThat(read.form().without(Set.of("trace", "b", "x")).text())
          .isEqualTo("{\"a\":{\"trace\":2}}");
      assertThat(read.form().text()).isEqualTo("{\"a\":{\"trace\":2},\"b\":[],\"trace\":1}");
      assertThat(read.form().without(Set.of())).isSameAs(read.form());
      CanonicalForm.Reading.Read array =
          (CanonicalForm.Reading.Read) CanonicalForm.read("[\"trace\"]");
      assertThat(array.form().without(Set.of("trace")).text()).isEqualTo("[\"trace\"]");
    }
  }

  @Nested
  class Strictness {
    @ParameterizedTest
    @ValueSource(
        strings = {
          "",
          " ",
          "\ufeff1",
          "\ufeff{}",
          "nul",
          "nulL",
          "nullx",
          "True",
          "tru",
          "fals",
          "truefalse",
          "NaN",
          "Infinity",
          "-Infinity",
          "undefined",
          "'a'",
          "{a:1}",
          "{\"a\"}",
          "{\"a\" 1}",
          "{\"a\":}",
          "{\"a\":1,}",
          "{,}",
          "{\"a\":1 \"b\":2}",
          "{\"a\":1",
          "{\"a\":1]",
          "{\"a\":1,",
          "{",
          "{\"a",
          "{\"a\"",
          "{\"a\":",
          "{1:2}",
          "[",
          "[1",
          "[1,",
          "[1,]",
          "[,1]",
          "[1 2]",
          "[1}",
          "]",
          "}",
          ":",
          ",",
          "1 2",
          "{} {}",
          "[]]",
          "{}x",
          "01",
          "-01",
          "00",
          "00.5",
          "+1",
          "-",
          "-a",
          "1.",
          "1.e1",
          ".5",
          "1e",
          "1e+",
          "1e-",
          "1ee1",
          "1.5.5",
          "0x10",
          "1_000",
          "--1",
          "1-",
          "\u0661",
          "\"",
          "\"a",
          "\"\\",
          "\"\\\"",
          "\"\\x\"",
          "\"\\'\"",
          "\"\\U0041\"",
          "\"\\u\"",
          "\"\\u00\"",
          "\"\\u004g\"",
          "\"\\u00\u0664\u0661\"",
          "\"\\u004",
          "\"a\nb\"",
          "\"a\tb\"",
          "\"\u0000\"",
          "\"\u001f\"",
          "\"\\n\u001f\"",
          "\"\ud83d\ude02\u001f\"",
          "/* c */ 1",
          "1 // c",
          "\u00a01",
          "\u000b1",
          "\f1",
          "\u0000",
          "1\u0000"
        })
    void whatIsNotJsonIsRefused(String json) {
      Refusal refusal = refusal(json);
      assertThat(refusal.code()).isEqualTo(RefusalCode.ARGUMENTS_NOT_JSON);
      assertThat(refusal.detail())
          .matches(
              "Expected arguments that are one JSON text, but .* at offset \\d+\\. Check .*\\.");
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "[1, x]|no value starts at offset 4",
          "[1, tru]|no value starts at offset 4",
          "{\"a\":1, b}|no member name starts at offset 8",
          "{\"a\" 1}|no colon follows the member name at offset 5",
          "[1 2]|neither a comma nor the end of the structure follows at offset 3",
          "[1] 2|more text follows the value at offset 4",
          "[-]|a number lacks a digit at offset 2",
          "[1.]|a number lacks a digit at offset 3",
          "[1e]|a number lacks a digit at offset 3",
          "[1e+]|a number lacks a digit at offset 4",
          "[-01]|a number starts with a zero too many at offset 2",
          "[\"\\x\"]|an unknown escape stands before at offset 4",
          "[\"\\u00x\"]|an escape lacks hexadecimal digits at offset 6",
          "[\"a|a text is not closed or holds a control character at offset 3",
          "[\"\\ud83d!\"]|half of a surrogate pair at offset 9"
        })
    void aRefusalSaysWhatAndWhere(String json, String was) {
      assertThat(refusal(json).detail()).contains(was);
    }

    @Test
    void blanksAreTheFourOfJson() {
      assertThat(
              canonical(" \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 ] } \t\r\n"))
          .isEqualTo("{\"a\":[1,2]}");
      assertThat(canonical("[ ]")).isEqualTo("[]");
      assertThat(canonical("{\"a\":1 , \"b\":2}")).isEqualTo("{\"a\":1,\"b\":2}");
    }
  }

  @Nested
  class Vectors {
    /** Where exact decimals and doubles part: RFC 8785's text, and ours. */
    private static final Map<String, String> EXACT =
        Map.of(
            "[333333333.3333333,", "[333333333.33333329,",
            "1e+30,", "1000000000000000000000000000000,");

    @ParameterizedTest
    @ValueSource(strings = {"arrays", "french", "structures", "unicode", "weird"})
    @Tag("FP-19")
    void publishedVectorsOfRfc8785Hold(String name) throws IOException {
      assertThat(canonical(vector(name, "input"))).isEqualTo(vector(name, "output"));
    }

    @Test
    @Tag("FP-18")
    void thePublishedVectorOfNumbersHoldsButForExactDecimals() throws IOException {
      String expected = vector("values", "output");
      for (Map.Entry<String, String> exact : EXACT.entrySet()) {
        assertThat(expected).contains(exact.getKey());
        expected = expected.replace(exact.getKey(), exact.getValue());
      }
      assertThat(canonical(vector("values", "input"))).isEqualTo(expected);
    }

    private static String vector(String name, String kind) throws IOException {
      assumeThat(JCS).as("the published vectors lie beside the repository").isDirectory();
      return Files.readString(JCS.resolve(name + "." + kind + ".json")).stripTrailing();
    }

    static List<List<String>> vectors() {
      return GoldenFile.own("fingerprints.tsv");
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void canonicalTextsAreThoseOfTheGoldenFile(List<String> vector) {
      assertThat(canonical(vector.get(7))).isEqualTo(vector.get(6));
    }
  }
}
