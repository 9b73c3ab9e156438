package dev.ichido.operation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.math.BigDecimal;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class OperationIdTest {
  private static final TenantKey KEY = TenantKey.of(new byte[32]);

  @Nested
  class Grammar {
    @ParameterizedTest
    @ValueSource(
        strings = {
          "op-0000000000001",
          "op-0000000000000001",
          "Az09_.:~-Az09_.:~-",
          "6f1e7a52-2a35-4b7c-8a4e-0f5a3c9d1e22",
          "01890a5d-ac96-774b-bcce-b302099a8057",
          "d41d8cd98f00b204e9800998ecf8427e",
          "1767225600000-worker-7",
          "order:4539578763621487x",
          "risk-assessment-0001",
          "desk-assistant-000001",
          "00000000-0000-0000-0000-000000000001",
          "2026-01-01T00:00:00Z",
          "eyJustAnOrdinaryIdentifier",
          "order-4111-1111-1111-1112",
          "order-4111-1111-1111-11117777",
          "1234-5678-9012-3452",
          "x4111111111111111",
          "4111111111111111x",
          "4111-1111-1111-1112-2",
          "order-2026-000017.note-1",
          "order-2220003122003225",
          "order-2721003122003229",
          "order-22230031220032206",
          "order-222300312200328",
          "2223-0031-2200-3223",
          "2220-0031-2200-3225",
          "2721-0031-2200-3229"
        })
    @Tag("KEY-13")
    void ordinaryIdsAreTaken(String id) {
      assertThat(OperationId.check(id)).isEmpty();
    }

    @Test
    @Tag("KEY-15")
    @Tag("FR-42")
    void aMissingIdIsRefused() {
      assertRefused(null, RefusalCode.OPERATION_ID_MISSING);
    }

    @Test
    @Tag("KEY-01")
    void anEmptyIdIsTooShort() {
      assertRefused("", RefusalCode.OPERATION_ID_TOO_SHORT);
    }

    @Test
    @Tag("KEY-02")
    @Tag("KEY-03")
    @Tag("KEY-13")
    void lengthIsFrom16To255() {
      assertRefused("x".repeat(15), RefusalCode.OPERATION_ID_TOO_SHORT);
      assertThat(OperationId.check("x".repeat(16))).isEmpty();
      assertThat(OperationId.check("x".repeat(255))).isEmpty();
      assertRefused("x".repeat(256), RefusalCode.OPERATION_ID_TOO_LONG);
      assertRefused("x".repeat(1_000_000), RefusalCode.OPERATION_ID_TOO_LONG);
    }

    @Test
    void lengthCountsCharactersAndNotCodeUnits() {
      assertRefused("\ud83d\ude02".repeat(15), RefusalCode.OPERATION_ID_TOO_SHORT);
      assertRefused("\ud83d\ude02".repeat(255), RefusalCode.OPERATION_ID_CHARACTER);
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "\"abc-0000000000000001",
          "op-0000000000000001,op-0000000000000002",
          "\u00e9-10000000000000001",
          " op-0000000000000001",
          "op-0000000000000001 ",
          "op-0000000000000001\n",
          "op-0000000000000001\0",
          "op/0000000000000001",
          "op%0000000000000001",
          "op+0000000000000001",
          "op@0000000000000001",
          "op-@host-without-dot",
          "op;0000000000000001",
          "op[0000000000000001",
          "op`0000000000000001",
          "op{0000000000000001",
          "\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669\u0660\u0661\u0662\u0663\u0664\u0665\u0666"
        })
    @Tag("KEY-06")
    @Tag("KEY-07")
    @Tag("KEY-10")
    void anotherCharacterIsRefusedAndNothingIsStripped(String id) {
      assertRefused(id, RefusalCode.OPERATION_ID_CHARACTER);
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "alice@example.com-2026-01",
          "alice@example.com",
          "a@b.c",
          "order-alice.b+c@mail.example.co.uk-000001",
          "j\u00f6rg@m\u00fcnchen.de-00000001",
          "4111-1111-1111-1111",
          "4111 1111 1111 1111",
          "4111.1111.1111.1111",
          "4111_1111_1111_1111",
          "4111111111111111",
          "order-4111111111111111",
          "order:4111-1111-1111-1111:2026",
          "2026-4111-1111-1111-1111",
          "5555555555554444-refund",
          "378282246310005-amex",
          "3782-822463-10005",
          "30569309025904-diners",
          "3056-930902-5904-diners",
          "6011111111111117-000",
          "4222222222222-visa13",
          "6304000000000000000-m19",
          "6304-0000-0000-0000-000-m19",
          "4111-1111-1111-1111-2",
          "5555-5555-5555-4444-1",
          "pay_4111_1111_1111_1111_1",
          "4111-1111-1111-1111-001",
          "4111-1111-1111-1111-2026",
          "4111:1111:1111:1111",
          "4111~1111~1111~1111",
          "order:4111:1111:1111:1111:7",
          "2223-0031-2200-3222",
          "2223-0031-2200-3222-1",
          "order-2223003122003222",
          "order-2221000000000009",
          "order-2720999999999996",
          "+491701234567",
          "+491701234567-2026-01",
          "tel:+491701234567-2026",
          "+49 170 1234567-order",
          "+1 (415) 555-0132",
          "+12345678-0000000001",
          "+123456789012345-order"
        })
    @Tag("KEY-12")
    void personalDataIsRefused(String id) {
      assertRefused(id, RefusalCode.OPERATION_ID_LOOKS_PERSONAL);
    }

    /** Ids that are made by machines, which nobody can choose again. */
    @Test
    void generatedIdsAreNoCardNumbers() {
      Random random = new Random(17);
      for (int i = 0; i < 20_000; i++) {
        byte[] bytes = new byte[16];
        random.nextBytes(bytes);
        String hex = HexFormat.of().formatHex(bytes);
        String uuid = hex.replaceFirst("(.{8})(.{4})(.{4})(.{4})(.{12})", "$1-$2-$3-$4-$5");
        String ulid =
            random
                .ints(24, 0, 32)
                .mapToObj(it -> "0123456789ABCDEFGHJKMNPQRSTVWXYZ".substring(it, it + 1))
                .collect(Collectors.joining("", "01", ""));
        for (String id :
            List.of(
                hex,
                uuid,
                // As near to a card as a UUID comes.
                uuid.replaceAll("[a-f]", "4"),
                "order:" + uuid + ":1",
                ulid,
                "snowflake-"
                    + random.nextLong(1_000_000_000_000_000_000L, 3_000_000_000_000_000_000L),
                "millis-" + random.nextLong(1_700_000_000_000L, 2_000_000_000_000L),
                "micros:" + random.nextLong(1_700_000_000_000_000L, 2_000_000_000_000_000L))) {
          assertThat(OperationId.check(id)).as(id).isEmpty();
        }
      }
    }

    @ParameterizedTest
    @ValueSource(strings = {"+1234567-x", "+1234567", "+1234567890123456", "+12345678a0123456"})
    void otherRunsOfDigitsAreNoPhoneNumbers(String id) {
      assertThat(OperationId.check(id).orElseThrow().code())
          .isNotEqualTo(RefusalCode.OPERATION_ID_LOOKS_PERSONAL);
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "sk_live_ExampleExampleExample",
          "sk_test_ExampleExampleExample",
          "rk_live_ExampleExampleExample",
          "pk_live_ExampleExampleExample",
          "whsec_ExampleExampleExample",
          "key:sk_live_Example0000",
          "ghp_ExampleExampleExample",
          "gho_ExampleExampleExample",
          "ghs_ExampleExampleExample",
          "ghu_ExampleExampleExample",
          "github_pat_ExampleExample",
          "glpat-ExampleExampleExample",
          "xoxb-0000000000-Example",
          "xoxp-0000000000-Example",
          "xapp-1-A0000000000",
          "AKIAIOSFODNN7EXAMPLE",
          "AKIAExampleExampleExample",
          "shpat_ExampleExampleExample",
          "ASIAIOSFODNN7EXAMPLE",
          "aws:AKIAIOSFODNN7EXAMPLE:1",
          "AIzaExampleExampleExampleExampleExampleEx",
          "ya29.ExampleExampleExample",
          "GOCSPX-ExampleExampleExample",
          "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
          "eyJ0eXAiOiJKV1QifQ",
          "npm_ExampleExampleExampleExampleExample00",
          "pypi-ExampleExampleExample",
          "hf_ExampleExampleExampleExample",
          "dckr_pat_ExampleExample",
          "sk-ExampleExampleExample",
          "sk-proj-ExampleExample",
          "sk-ant-ExampleExampleExample",
          "SG.ExampleExampleExample0.Example",
          "shpat_0123456789abcdef",
          "dop_v1_0123456789abcdef",
          "sq0atp-ExampleExample",
          "-----BEGIN PRIVATE KEY"
        })
    @Tag("KEY-12")
    void knownCredentialPrefixesAreRefused(String id) {
      assertRefused(id, RefusalCode.OPERATION_ID_LOOKS_SECRET);
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "1",
          "123456",
          "1234567890123456",
          "0000000000000000",
          "00000000-0000-0000-0000-000000000000"
        })
    @Tag("KEY-13")
    void guessableIdsAreRefused(String id) {
      assertRefused(id, RefusalCode.OPERATION_ID_GUESSABLE);
    }

    @Test
    void theFirstReasonOfTheFixedOrderIsTold() {
      assertRefused("a@b.cc sk_live_x", RefusalCode.OPERATION_ID_LOOKS_PERSONAL);
      assertRefused("4111111111111111", RefusalCode.OPERATION_ID_LOOKS_PERSONAL);
      assertRefused("sk_live_ x", RefusalCode.OPERATION_ID_LOOKS_SECRET);
      assertRefused("1".repeat(300), RefusalCode.OPERATION_ID_GUESSABLE);
      assertRefused("a b", RefusalCode.OPERATION_ID_TOO_SHORT);
      assertRefused("a b".repeat(100), RefusalCode.OPERATION_ID_TOO_LONG);
      assertRefused("alice@example.com" + "x".repeat(300), RefusalCode.OPERATION_ID_LOOKS_PERSONAL);
    }

    @Test
    void aRefusalNeverQuotesTheId() {
      for (String id : List.of("alice@example.com", "sk_live_Secret0000", "secret word in an id")) {
        assertThat(OperationId.check(id).orElseThrow().detail())
            .doesNotContain("alice", "Secret", "secret word")
            .startsWith("Expected an operation id")
            .endsWith(".");
      }
      assertThat(OperationId.check("op-000 0000000000").orElseThrow().detail())
          .contains("another character stands at offset 6");
      assertThat(OperationId.check("op").orElseThrow().detail()).contains("it has 2");
      assertThat(OperationId.check("x".repeat(256)).orElseThrow().detail()).contains("it has 256");
    }

    private static void assertRefused(@Nullable String id, RefusalCode code) {
      assertThat(OperationId.check(id).map(Refusal::code)).isEqualTo(Optional.of(code));
    }
  }

  @Nested
  class Derivation {
    static List<List<String>> vectors() {
      return GoldenFile.shared("operation-ids.tsv");
    }

    @ParameterizedTest
    @MethodSource("vectors")
    @Tag("FR-06")
    void derivedIdsAreThoseOfTheGoldenFile(List<String> vector) {
      TenantKey key = TenantKey.of(HexFormat.of().parseHex(vector.get(0)));
      KeyPart[] parts =
          vector.subList(3, vector.size()).stream().map(Derivation::part).toArray(KeyPart[]::new);
      String id = OperationId.derive(key, vector.get(1), parts);
      assertThat(id).isEqualTo(vector.get(2));
      assertThat(OperationId.check(id)).isEmpty();
    }

    @Test
    @Tag("FR-08")
    void partsAreTypedAndNotGluedTogether() {
      List<String> ids =
          List.of(
              OperationId.derive(KEY, "n", KeyPart.text("a_b"), KeyPart.text("c")),
              OperationId.derive(KEY, "n", KeyPart.text("a"), KeyPart.text("b_c")),
              OperationId.derive(KEY, "n", KeyPart.text("1")),
              OperationId.derive(KEY, "n", KeyPart.number(1)),
              OperationId.derive(KEY, "n", KeyPart.text("true")),
              OperationId.derive(KEY, "n", KeyPart.truth(true)),
              OperationId.derive(KEY, "n", KeyPart.truth(false)),
              OperationId.derive(KEY, "n", KeyPart.absent()),
              OperationId.derive(KEY, "n", KeyPart.text("")),
              OperationId.derive(KEY, "n", KeyPart.number(0)),
              OperationId.derive(KEY, "m", KeyPart.number(0)),
              OperationId.derive(
                  TenantKey.of(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
                  "n",
                  KeyPart.number(0)));
      assertThat(ids).doesNotHaveDuplicates();
    }

    @Test
    void aNumberHasOneSpelling() {
      String one = OperationId.derive(KEY, "n", KeyPart.number(1));
      assertThat(OperationId.derive(KEY, "n", KeyPart.number(new BigDecimal("1.0"))))
          .isEqualTo(one);
      assertThat(OperationId.derive(KEY, "n", KeyPart.number(new BigDecimal("10e-1"))))
          .isEqualTo(one);
      assertThat(OperationId.derive(KEY, "n", KeyPart.number(new BigDecimal("0e99"))))
          .isEqualTo(OperationId.derive(KEY, "n", KeyPart.number(0)));
    }

    @Test
    void numbersOutOfRangeAreRefused() {
      KeyPart.number(new BigDecimal("9".repeat(100)));
      KeyPart.number(new BigDecimal("1e308"));
      KeyPart.number(new BigDecimal("1e-308"));
      KeyPart.number(new BigDecimal("0e9999"));
      for (String number : List.of("9".repeat(101), "1e309", "10e308", "1e-309", "0.1e-308")) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> KeyPart.number(new BigDecimal(number)))
            .withMessageStartingWith("Expected a number of at most 100 digits");
      }
    }

    @Test
    void anIdIsDerivedFromSomething() {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> OperationId.derive(KEY, "n"))
          .withMessageStartingWith("Expected a namespace and at least one part");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> OperationId.derive(KEY, " ", KeyPart.text("a")))
          .withMessageStartingWith("Expected a namespace and at least one part");
    }

    @Test
    void aTenantKeyHas16BytesAndIsNeverPrinted() {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> TenantKey.of(new byte[15]))
          .withMessageContaining("it has 15");
      assertThat(TenantKey.of("0123456789abcdef".getBytes(UTF_8))).hasToString("TenantKey[secret]");
    }

    private static KeyPart part(String column) {
      if (column.equals("0")) {
        return KeyPart.absent();
      }
      String content = column.substring(2);
      return switch (column.charAt(0)) {
        case 'T' -> KeyPart.text(content);
        case 'N' -> KeyPart.number(new BigDecimal(content));
        case 'B' -> KeyPart.truth(Boolean.parseBoolean(content));
        case 'R' -> {
          String[] repeated = content.split(":", 2);
          yield KeyPart.text(repeated[1].repeat(Integer.parseInt(repeated[0])));
        }
        default -> throw new IllegalStateException(column);
      };
    }
  }
}
