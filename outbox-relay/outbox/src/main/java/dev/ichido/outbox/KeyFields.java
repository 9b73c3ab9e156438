package dev.ichido.outbox;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which top-level arguments tell one operation of an action from every other: its business
 * identity, {@code identity} of an action in the policy. An invoice number is one; an amount is
 * not.
 *
 * @param names in the order in which they are digested; changing it changes every id
 */
public record KeyFields(List<String> names) {
  /**
   * The declared names.
   *
   * @throws IdentityException {@code NOTHING_TO_DERIVE_FROM} for none
   * @throws IllegalArgumentException for a name that is given twice
   */
  public KeyFields {
    names = List.copyOf(names);
    if (names.isEmpty()) {
      throw IdentityException.nothingToDeriveFrom();
    }
    if (new LinkedHashSet<>(names).size() < names.size()) {
      throw new IllegalArgumentException(
          "Expected each key field once, but one of %s is named twice. Check the declaration of the action."
              .formatted(names));
    }
  }

  /** Key fields in this order. */
  public static KeyFields of(String... names) {
    return new KeyFields(List.of(names));
  }

  /** Name and value of each key field, or why there is none. */
  KeyPart[] partsOf(Map<String, ? extends @Nullable Object> arguments) {
    List<String> missing = names.stream().filter(name -> arguments.get(name) == null).toList();
    if (!missing.isEmpty()) {
      throw IdentityException.keyFieldsMissing(missing);
    }
    List<KeyPart> parts = new ArrayList<>();
    for (String name : names) {
      parts.add(KeyPart.text(name));
      parts.add(part(name, arguments.get(name)));
    }
    return parts.toArray(KeyPart[]::new);
  }

  private static KeyPart part(String name, @Nullable Object value) {
    if (value instanceof String text) {
      return KeyPart.text(text);
    }
    if (value instanceof Boolean truth) {
      return KeyPart.truth(truth);
    }
    if (value instanceof BigDecimal number) {
      return KeyPart.number(number);
    }
    if (value instanceof BigInteger number) {
      return KeyPart.number(new BigDecimal(number));
    }
    if (value instanceof Long
        || value instanceof Integer
        || value instanceof Short
        || value instanceof Byte) {
      return KeyPart.number(((Number) value).longValue());
    }
    throw IdentityException.keyFieldType(
        name, value == null ? "null" : value.getClass().getSimpleName());
  }
}
