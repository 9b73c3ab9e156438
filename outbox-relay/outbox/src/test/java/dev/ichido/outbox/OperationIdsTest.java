package dev.ichido.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperationIdsTest {
  private static final TenantKey KEY =
      TenantKey.of("0123456789abcdef0123456789abcdef".getBytes(UTF_8));
  private static final KeyFields INVOICE = KeyFields.of("supplier", "invoice");

  private static Lineage lineage(String turn, String callId, int index) {
    return new Lineage("crew-1", "thread-7", turn, callId, index);
  }

  private static void assertRefused(IdentityException.Code code, ThrowingCallable call) {
    assertThatExceptionOfType(IdentityException.class)
        .isThrownBy(call)
        .satisfies(refused -> assertThat(refused.code()).isEqualTo(code))
        .withMessageMatching("Expected .*, but .*\\. Check .*\\.");
  }

  @Test
  @Tag("FR-15")
  void callIdsThatAreUsedAgainInTheNextTurnAreTwoOperations() {
    assertThat(OperationIds.fromLineage(KEY, lineage("turn-1", "call_0", 0)))
        .isNotEqualTo(OperationIds.fromLineage(KEY, lineage("turn-2", "call_0", 0)));
  }

  @Test
  @Tag("FR-15")
  void aCallIdAloneIsNoIdentity() {
    assertRefused(
        IdentityException.Code.LINEAGE_INCOMPLETE, () -> new Lineage("", " ", "", "call_0", 0));
    assertThatExceptionOfType(IdentityException.class)
        .isThrownBy(() -> new Lineage("", " ", "", "call_0", -1))
        .withMessageContaining("[runtime, thread, turn, index]");
    assertThatExceptionOfType(IdentityException.class)
        .isThrownBy(() -> new Lineage("r", "t", "", "call_0", 0))
        .withMessageContaining("[turn]");
  }

  @Test
  @Tag("FR-03")
  void aRetryWithAFreshCallIdIsTheSameOperationWhereTheCallIdIsLeftOut() {
    assertThat(OperationIds.fromLineage(KEY, new Lineage("r", "t", "m", null, 1)))
        .isEqualTo(OperationIds.fromLineage(KEY, new Lineage("r", "t", "m", null, 1)))
        .isNotEqualTo(OperationIds.fromLineage(KEY, new Lineage("r", "t", "m", "", 1)))
        .isNotEqualTo(OperationIds.fromLineage(KEY, new Lineage("r", "t", "m", null, 0)));
    assertThat(
            OperationIds.fromKeyFields(
                KEY, "invoice.pay", INVOICE, Map.of("supplier", "s", "invoice", 7)))
        .isEqualTo(
            OperationIds.identify(
                KEY,
                "invoice.pay",
                INVOICE,
                Map.of("supplier", "s", "invoice", 7, "memo", "second try"),
                lineage("turn-9", "call_99", 4)));
  }

  @Test
  void everyPartOfALineageCounts() {
    assertThat(
            List.of(
                OperationIds.fromLineage(KEY, new Lineage("a", "b", "c", "d", 0)),
                OperationIds.fromLineage(KEY, new Lineage("x", "b", "c", "d", 0)),
                OperationIds.fromLineage(KEY, new Lineage("a", "x", "c", "d", 0)),
                OperationIds.fromLineage(KEY, new Lineage("a", "b", "x", "d", 0)),
                OperationIds.fromLineage(KEY, new Lineage("a", "b", "c", "x", 0)),
                OperationIds.fromLineage(KEY, new Lineage("a", "b", "c", "d", 1)),
                OperationIds.fromLineage(KEY, new Lineage("b", "a", "c", "d", 0)),
                OperationIds.fromLineage(KEY, new Lineage("ab", "c", "d", null, 0)),
                OperationIds.fromLineage(KEY, new Lineage("a", "bc", "d", null, 0))))
        .doesNotHaveDuplicates();
  }

  @Test
  @Tag("FR-08")
  void keyFieldsAreTypedAndNotGluedTogether() {
    KeyFields ab = KeyFields.of("a", "b");
    assertThat(
            List.of(
                OperationIds.fromKeyFields(KEY, "x", ab, Map.of("a", "a_b", "b", "c")),
                OperationIds.fromKeyFields(KEY, "x", ab, Map.of("a", "a", "b", "b_c")),
                OperationIds.fromKeyFields(KEY, "x", ab, Map.of("a", "1", "b", "c")),
                OperationIds.fromKeyFields(KEY, "x", ab, Map.of("a", 1, "b", "c")),
                OperationIds.fromKeyFields(KEY, "x", ab, Map.of("a", true, "b", "c")),
                OperationIds.fromKeyFields(KEY, "x", ab, Map.of("a", "true", "b", "c")),
                OperationIds.fromKeyFields(KEY, "y", ab, Map.of("a", "1", "b", "c")),
                OperationIds.fromKeyFields(
                    KEY, "x", KeyFields.of("a", "c"), Map.of("a", "1", "c", "c")),
                OperationIds.fromKeyFields(
                    KEY, "x", KeyFields.of("b", "a"), Map.of("a", "1", "b", "c"))))
        .doesNotHaveDuplicates();
  }

  @Test
  void aNumberIsOneHoweverItIsHeld() {
    KeyFields n = KeyFields.of("n");
    String seven = OperationIds.fromKeyFields(KEY, "x", n, Map.of("n", 7));
    for (Object number :
        List.of(7L, (short) 7, (byte) 7, BigInteger.valueOf(7), new BigDecimal("7.00"))) {
      assertThat(OperationIds.fromKeyFields(KEY, "x", n, Map.of("n", number))).isEqualTo(seven);
    }
  }

  @Test
  void aMissingKeyFieldIsRefusedAndNeverReplacedByTheLineage() {
    Map<String, Object> arguments = new HashMap<>();
    arguments.put("supplier", null);
    assertRefused(
        IdentityException.Code.KEY_FIELD_MISSING,
        () ->
            OperationIds.identify(
                KEY, "invoice.pay", INVOICE, arguments, lineage("turn-1", "call_0", 0)));
    assertThatExceptionOfType(IdentityException.class)
        .isThrownBy(() -> OperationIds.fromKeyFields(KEY, "invoice.pay", INVOICE, arguments))
        .withMessageContaining("[supplier, invoice]");
  }

  @Test
  void lineageIsTheIdentityWhereNoKeyFieldsAreDeclared() {
    Lineage lineage = lineage("turn-1", "call_0", 0);
    assertThat(OperationIds.identify(KEY, "note.add", null, Map.of("text", "x"), lineage))
        .isEqualTo(OperationIds.fromLineage(KEY, lineage));
  }

  @Test
  void aKeyFieldIsNoDoubleAndNoStructure() {
    for (Object value : List.of(0.1d, 0.1f, List.of(1), Map.of())) {
      assertRefused(
          IdentityException.Code.KEY_FIELD_TYPE,
          () -> OperationIds.fromKeyFields(KEY, "x", KeyFields.of("n"), Map.of("n", value)));
    }
    assertThatExceptionOfType(IdentityException.class)
        .isThrownBy(
            () -> OperationIds.fromKeyFields(KEY, "x", KeyFields.of("n"), Map.of("n", 12.5d)))
        .withMessageContaining("key field n, but it is a Double")
        .withMessageNotContaining("12.5");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e309", "1e-309", "10e308"})
  void numbersOutOfRangeAreRefused(String number) {
    assertRefused(
        IdentityException.Code.NUMBER_OUT_OF_RANGE, () -> KeyPart.number(new BigDecimal(number)));
    assertRefused(
        IdentityException.Code.NUMBER_OUT_OF_RANGE,
        () -> KeyPart.number(new BigDecimal("9".repeat(101))));
  }

  @Test
  void keyFieldsAreSomeAndEachOnce() {
    assertRefused(IdentityException.Code.NOTHING_TO_DERIVE_FROM, KeyFields::of);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeyFields.of("a", "b", "a"))
        .withMessageContaining("named twice");
  }

  @Test
  void nothingIsDerivedFromNothing() {
    assertRefused(
        IdentityException.Code.NOTHING_TO_DERIVE_FROM, () -> OperationIds.derive(KEY, "n"));
    assertRefused(
        IdentityException.Code.NOTHING_TO_DERIVE_FROM,
        () -> OperationIds.derive(KEY, " ", KeyPart.text("a")));
  }

  @Test
  void aTenantKeyHas16BytesAndIsNeverPrinted() {
    assertRefused(IdentityException.Code.TENANT_KEY_SHORT, () -> TenantKey.of(new byte[15]));
    assertThat(TenantKey.of(new byte[16])).hasToString("TenantKey[secret]");
  }

  @Test
  @Tag("FR-40")
  void noMethodMakesAnIdOfNothingSoARetryCannotMintAnother() {
    assertThat(OperationIds.class.getConstructors()).isEmpty();
    List<Method> methods =
        Arrays.stream(OperationIds.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .toList();
    assertThat(methods)
        .isNotEmpty()
        .allSatisfy(
            method ->
                assertThat(method.getParameterTypes())
                    .startsWith(TenantKey.class)
                    .hasSizeGreaterThan(1));
    // Retries and fresh JVMs see only the stored parts, and those give the stored id.
    Lineage stored = lineage("turn-1", "call_0", 0);
    assertThat(OperationIds.fromLineage(KEY, stored))
        .isEqualTo(OperationIds.fromLineage(KEY, lineage("turn-1", "call_0", 0)));
  }
}
