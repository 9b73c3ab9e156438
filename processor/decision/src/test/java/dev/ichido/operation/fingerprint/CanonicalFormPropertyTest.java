package dev.ichido.operation.fingerprint;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;

class CanonicalFormPropertyTest {
  private static final List<String> TEXTS =
      List.of(
          "a",
          "A",
          "b",
          "1",
          "\"",
          "\\",
          "/",
          "\b",
          "\f",
          "\n",
          "\r",
          "\t",
          "\0",
          "\u001f",
          "\u007f",
          "\u00e9",
          "e\u0301",
          "\u20ac",
          "\ufb33",
          "\uffff",
          "\ud83d\ude02",
          "true");

  private static String canonical(String json) {
    return switch (CanonicalForm.read(json)) {
      case CanonicalForm.Reading.Read read -> read.form().text();
      case CanonicalForm.Reading.Refused refused ->
          throw new AssertionError(json + ": " + refused.refusal().detail());
    };
  }

  @Property(tries = 3000)
  @Tag("FP-01")
  @Tag("FP-03")
  @Tag("FR-41")
  void spellingDoesNotMatter(@ForAll("values") Value value, @ForAll Random random) {
    String one = value.spelled(random);
    String other = value.spelled(random);
    assertThat(canonical(one)).isEqualTo(canonical(other));
  }

  @Property(tries = 3000)
  void differentValuesHaveDifferentForms(
      @ForAll("values") Value one, @ForAll("values") Value other, @ForAll Random random) {
    boolean sameForm = canonical(one.spelled(random)).equals(canonical(other.spelled(random)));
    assertThat(sameForm).isEqualTo(one.plain().equals(other.plain()));
  }

  @Property(tries = 3000)
  void aNearValueHasAnotherForm(
      @ForAll("values") Value value, @ForAll Random random, @ForAll Random choice) {
    Value near = value.changedSomewhere(choice);
    assertThat(canonical(near.spelled(random))).isNotEqualTo(canonical(value.spelled(random)));
  }

  @Property(tries = 2000)
  void aCanonicalTextIsItsOwnForm(@ForAll("values") Value value, @ForAll Random random) {
    String form = canonical(value.spelled(random));
    assertThat(canonical(form)).isEqualTo(form);
  }

  @Property(tries = 3000)
  void arbitraryBytesAreReadOrRefused(@ForAll byte[] bytes) {
    CanonicalForm.read(new String(bytes, StandardCharsets.UTF_8));
    CanonicalForm.read(new String(bytes, StandardCharsets.ISO_8859_1));
    CanonicalForm.read(new String(bytes, StandardCharsets.UTF_16BE));
  }

  @Property(tries = 10000)
  void nearJsonIsReadOrRefused(@ForAll("nearJson") String text) {
    switch (CanonicalForm.read(text)) {
      case CanonicalForm.Reading.Read read -> assertThat(read.form().text()).isNotEmpty();
      case CanonicalForm.Reading.Refused refused ->
          assertThat(refused.refusal().detail()).startsWith("Expected ");
    }
  }

  @Property(tries = 2000)
  void aCutTextIsRefused(@ForAll("values") Value value, @ForAll Random random) {
    String text = "[" + value.spelled(random) + "]";
    assertThat(CanonicalForm.read(text.substring(0, random.nextInt(text.length()))))
        .isInstanceOf(CanonicalForm.Reading.Refused.class);
  }

  @Property(tries = 3000)
  @Tag("FP-07")
  @Tag("FP-09")
  void numbersShareAFormExactlyWhenTheyAreEqual(
      @ForAll("decimals") BigDecimal one, @ForAll("decimals") BigDecimal other) {
    String first = canonical(one.toString());
    assertThat(new BigDecimal(first)).isEqualByComparingTo(one);
    assertThat(canonical(other.toString()).equals(first)).isEqualTo(one.compareTo(other) == 0);
  }

  @Provide
  Arbitrary<BigDecimal> decimals() {
    return Combinators.combine(
            Arbitraries.oneOf(
                Arbitraries.longs().between(-20, 20),
                Arbitraries.longs(),
                Arbitraries.longs().between((1L << 53) - 2, (1L << 53) + 2)),
            Arbitraries.integers().between(-40, 40))
        .as((digits, scale) -> BigDecimal.valueOf(digits, scale));
  }

  @Provide
  Arbitrary<String> nearJson() {
    return Arbitraries.of(
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude02", "d83d", "0", "1",
            "9", "-", "+", ".", "e", "E", "308", "309", "true", "false", "null", "NaN", " ", "\n",
            "\"a\"", "\"a\":", "\"b\":1", "\ud83d", "\ude02", "\0", "\u00e9", "\ufeff", "/")
        .list()
        .ofMaxSize(14)
        .map(pieces -> String.join("", pieces));
  }

  /** Values of a bounded depth; jqwik's own recursive arbitraries now and then grow huge. */
  @Provide
  Arbitrary<Value> values() {
    return Arbitraries.longs().map(seed -> value(new Random(seed), 0));
  }

  private static Value value(Random random, int depth) {
    return switch (random.nextInt(depth < 3 ? 5 : 3)) {
      case 0 -> new Value.Text(text(random));
      case 1 ->
          new Value.Decimal(
              BigDecimal.valueOf(
                  random.nextBoolean() ? random.nextInt(5) - 2 : random.nextLong(),
                  random.nextInt(81) - 40));
      case 2 -> new Value.Word(List.of("true", "false", "null").get(random.nextInt(3)));
      case 3 -> {
        List<Value> elements = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          elements.add(value(random, depth + 1));
        }
        yield new Value.Elements(elements);
      }
      default -> {
        Map<String, Value> members = new LinkedHashMap<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          members.put(text(random), value(random, depth + 1));
        }
        yield new Value.Members(members);
      }
    };
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(4); i > 0; i--) {
      text.append(TEXTS.get(random.nextInt(TEXTS.size())));
    }
    return text.toString();
  }

  /** A JSON value that can be written in many spellings: the oracle beside the reader. */
  sealed interface Value {
    /** A Java value whose equality is that of the JSON value. */
    Object plain();

    /** One of many texts of this value. */
    String spelled(Random random);

    /** A value that differs in one place. */
    Value changedSomewhere(Random random);

    record Text(String text) implements Value {
      @Override
      public Object plain() {
        return text;
      }

      @Override
      public String spelled(Random random) {
        StringBuilder spelled = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
          char unit = text.charAt(i);
          int named = "\"\\/\b\f\n\r\t".indexOf(unit);
          if (named >= 0 && random.nextBoolean()) {
            spelled.append('\\').append("\"\\/bfnrt".charAt(named));
          } else if (unit < ' ' || unit == '"' || unit == '\\' || random.nextInt(4) == 0) {
            spelled.append((random.nextBoolean() ? "\\u%04x" : "\\u%04X").formatted((int) unit));
          } else {
            spelled.append(unit);
          }
        }
        return spelled.append('"').toString();
      }

      @Override
      public Value changedSomewhere(Random random) {
        return new Text(random.nextBoolean() ? text + "x" : "x" + text);
      }
    }

    record Decimal(BigDecimal number) implements Value {
      @Override
      public Object plain() {
        return number.signum() == 0 ? BigDecimal.ZERO : number.stripTrailingZeros();
      }

      @Override
      public String spelled(Random random) {
        int zeros = random.nextInt(4);
        String text =
            switch (random.nextInt(4)) {
              case 0 -> number.toPlainString();
              case 1 -> number.toString();
              case 2 -> number.setScale(Math.max(number.scale(), 0) + zeros).toPlainString();
              default ->
                  number.movePointRight(zeros).toPlainString()
                      + (random.nextBoolean() ? "e-" : "E-0")
                      + zeros;
            };
        return number.signum() == 0 && random.nextBoolean() ? "-" + text : text;
      }

      @Override
      public Value changedSomewhere(Random random) {
        return new Decimal(
            random.nextBoolean()
                ? number.add(BigDecimal.ONE)
                : number.add(BigDecimal.valueOf(1, 30)));
      }
    }

    record Word(String word) implements Value {
      @Override
      public Object plain() {
        return this;
      }

      @Override
      public String spelled(Random random) {
        return word;
      }

      @Override
      public Value changedSomewhere(Random random) {
        return random.nextBoolean()
            ? new Text(word)
            : new Word(word.equals("true") ? "false" : "true");
      }
    }

    record Elements(List<Value> elements) implements Value {
      @Override
      public Object plain() {
        return elements.stream().map(Value::plain).toList();
      }

      @Override
      public String spelled(Random random) {
        return elements.stream()
            .map(element -> blanks(random) + element.spelled(random) + blanks(random))
            .collect(Collectors.joining(",", "[" + blanks(random), "]"));
      }

      @Override
      public Value changedSomewhere(Random random) {
        List<Value> changed = new ArrayList<>(elements);
        if (changed.isEmpty() || random.nextInt(3) == 0) {
          changed.add(new Word("null"));
        } else {
          int at = random.nextInt(changed.size());
          changed.set(at, changed.get(at).changedSomewhere(random));
        }
        return new Elements(changed);
      }
    }

    record Members(Map<String, Value> members) implements Value {
      @Override
      public Object plain() {
        return members.entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, member -> member.getValue().plain()));
      }

      @Override
      public String spelled(Random random) {
        List<String> spelled = new ArrayList<>();
        members.forEach(
            (name, value) ->
                spelled.add(
                    blanks(random)
                        + new Text(name).spelled(random)
                        + blanks(random)
                        + ":"
                        + blanks(random)
                        + value.spelled(random)
                        + blanks(random)));
        Collections.shuffle(spelled, random);
        return "{" + blanks(random) + String.join(",", spelled) + "}";
      }

      @Override
      public Value changedSomewhere(Random random) {
        Map<String, Value> changed = new LinkedHashMap<>(members);
        if (changed.isEmpty() || random.nextInt(3) == 0) {
          changed.put("another", new Word("null"));
        } else {
          var member = List.copyOf(members.entrySet()).get(random.nextInt(members.size()));
          if (random.nextBoolean()) {
            changed.remove(member.getKey());
          } else {
            changed.put(member.getKey(), member.getValue().changedSomewhere(random));
          }
        }
        return new Members(changed);
      }
    }

    private static String blanks(Random random) {
      return List.of("", "", " ", "\n", "\t\r ").get(random.nextInt(5));
    }
  }
}
