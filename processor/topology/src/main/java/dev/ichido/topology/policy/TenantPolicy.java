package dev.ichido.topology.policy;

import dev.ichido.operation.TenantKey;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * One tenant.
 *
 * @param name name of the tenant
 * @param principals agents that act for it, exact names
 * @param operators persons that may settle what is unknown, exact names or globs with {@code *};
 *     when absent, anyone; an agent of any tenant never may
 * @param fingerprintKey key of the digests; never printed
 */
public record TenantPolicy(
    String name,
    List<String> principals,
    Optional<List<String>> operators,
    TenantKey fingerprintKey) {
  public TenantPolicy {
    principals = List.copyOf(principals);
    operators = operators.map(List::copyOf);
  }

  boolean isOperator(String person) {
    return operators.map(names -> names.stream().anyMatch(it -> fits(it, person))).orElse(true);
  }

  private static boolean fits(String glob, String name) {
    StringBuilder pattern = new StringBuilder();
    for (String part : glob.split("\\*", -1)) {
      pattern.append(pattern.isEmpty() ? "" : ".*").append(Pattern.quote(part));
    }
    return Pattern.compile(pattern.toString(), Pattern.DOTALL).matcher(name).matches();
  }
}
