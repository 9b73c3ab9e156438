package dev.ichido.topology.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuthorizationTest {
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS)
          .build();

  private static final TenantPolicy TENANT =
      Objects.requireNonNull(
          PolicyLoader.released()
              .load(
                  LocatedTree.read(
                      "policy", "tenants: { t1: { principals: [agent], operators: [ops] } }"))
              .tenants()
              .get("t1"));

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          principal in tenant.principals            ; {}                       ; true
          principal in tenant.operators             ; {}                       ; false
          tenant.name == 't1' && action == 'pay'    ; {}                       ; true
          target == 'acct:1'                        ; {}                       ; true
          arguments.amount <= 100                   ; {"amount":100}           ; true
          arguments.amount <= 100                   ; {"amount":100.0}         ; true
          arguments.amount <= 100                   ; {"amount":1e2}           ; true
          arguments.amount <= 100                   ; {"amount":100.01}        ; false
          arguments.amount <= 100                   ; {"amount":1e300}         ; false
          arguments.amount == 9007199254740993      ; {"amount":9007199254740993} ; true
          arguments.amount == 9007199254740993      ; {"amount":9007199254740992} ; false
          arguments.amount <= 100                   ; {}                       ; false
          arguments.amount <= 100                   ; {"amount":"1"}           ; false
          arguments.memo == null                    ; {"memo":null}            ; true
          has(arguments.memo)                       ; {}                       ; false
          arguments.to.all(x, x.startsWith('a'))    ; {"to":["a1","a2"]}       ; true
          arguments.to.all(x, x.startsWith('a'))    ; {"to":["a1","b2"]}       ; false
          arguments.to[5] == 'x' || true            ; {"to":[]}                ; true
          arguments.nested.deep                     ; {"nested":{"deep":true}} ; true
          arguments.nested.deep                     ; {"nested":{"deep":1}}    ; false
          """)
  void whatCannotBeEvaluatedIsRefused(String expression, String arguments, boolean permitted)
      throws JsonProcessingException {
    Authorization authorization = Authorization.compile("here", expression);
    assertThat(authorization.permits(TENANT, "agent", "pay", "acct:1", JSON.readTree(arguments)))
        .isEqualTo(permitted);
  }
}
