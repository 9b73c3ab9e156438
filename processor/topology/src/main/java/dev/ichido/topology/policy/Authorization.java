package dev.ichido.topology.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelOptions;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.CelType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.values.NullValue;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.Program;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who may do what: one CEL expression an action, compiled when the policy is loaded.
 *
 * <p>It sees {@code principal} (text), {@code tenant} (name, principals, operators), {@code action}
 * (text), {@code target} (text or null) and {@code arguments} (the JSON). Whole numbers that fit 64
 * bits are int, every other number is the nearest double. Whatever cannot be evaluated is refused.
 */
public final class Authorization {
  private static final CelOptions OPTIONS =
      CelOptions.current()
          .enableHeterogeneousNumericComparisons(true)
          .comprehensionMaxIterations(10_000)
          .maxRegexProgramSize(1_000)
          .build();
  private static final CelCompiler COMPILER =
      CelCompilerFactory.standardCelCompilerBuilder()
          .setOptions(OPTIONS)
          .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
          .addVar("principal", SimpleType.STRING)
          .addVar("tenant", MapType.create(SimpleType.STRING, SimpleType.DYN))
          .addVar("action", SimpleType.STRING)
          .addVar("target", SimpleType.DYN)
          .addVar("arguments", SimpleType.DYN)
          .build();
  private static final CelRuntime RUNTIME =
      CelRuntimeFactory.legacyCelRuntimeBuilder().setOptions(OPTIONS).build();

  private final String expression;
  private final Program program;

  private Authorization(String expression, Program program) {
    this.expression = expression;
    this.program = program;
  }

  static Authorization compile(String where, String expression) {
    try {
      CelAbstractSyntaxTree tree = COMPILER.compile(expression).getAst();
      CelType type = tree.getResultType();
      if (!type.equals(SimpleType.BOOL) && !type.equals(SimpleType.DYN)) {
        throw PolicyException.authorizeWrong(where, "its type is " + type.name());
      }
      return new Authorization(expression, RUNTIME.createProgram(tree));
    } catch (CelValidationException | CelEvaluationException e) {
      throw PolicyException.authorizeWrong(where, String.valueOf(e.getMessage()));
    }
  }

  /** True only when the expression gives true; an error in it is a refusal. */
  public boolean permits(
      TenantPolicy tenant,
      String principal,
      String action,
      @Nullable String target,
      JsonNode arguments) {
    return Boolean.TRUE.equals(judge(tenant, principal, action, target, arguments));
  }

  /**
   * Whether the expression gives anything but false where nothing is known of the arguments: what
   * depends on them can then not be evaluated.
   */
  public boolean mayPermit(
      TenantPolicy tenant, String principal, String action, @Nullable String target) {
    return !Boolean.FALSE.equals(
        judge(tenant, principal, action, target, JsonNodeFactory.instance.objectNode()));
  }

  /** What the expression gives; null when it cannot be evaluated. */
  private @Nullable Object judge(
      TenantPolicy tenant,
      String principal,
      String action,
      @Nullable String target,
      JsonNode arguments) {
    Map<String, Object> variables = new HashMap<>();
    variables.put("principal", principal);
    variables.put(
        "tenant",
        Map.of(
            "name", tenant.name(),
            "principals", tenant.principals(),
            "operators", tenant.operators().orElse(List.of())));
    variables.put("action", action);
    variables.put("target", target == null ? NullValue.NULL_VALUE : target);
    variables.put("arguments", value(arguments));
    try {
      return program.eval(variables);
    } catch (CelEvaluationException | RuntimeException e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return expression;
  }

  private static Object value(JsonNode node) {
    return switch (node.getNodeType()) {
      case OBJECT -> {
        Map<String, Object> map = new HashMap<>();
        node.properties().forEach(entry -> map.put(entry.getKey(), value(entry.getValue())));
        yield map;
      }
      case ARRAY -> {
        List<Object> list = new ArrayList<>(node.size());
        node.forEach(element -> list.add(value(element)));
        yield list;
      }
      case STRING -> node.textValue();
      case BOOLEAN -> node.booleanValue();
      case NUMBER -> number(node.decimalValue());
      case NULL, MISSING, BINARY, POJO -> NullValue.NULL_VALUE;
    };
  }

  private static Object number(BigDecimal number) {
    // Bounded first: the exact integer of 1e300 would be built digit by digit.
    if (number.precision() - number.scale() <= 19 && number.stripTrailingZeros().scale() <= 0) {
      try {
        return number.longValueExact();
      } catch (ArithmeticException e) {
        return number.doubleValue();
      }
    }
    return number.doubleValue();
  }
}
