package dev.ichido.executor.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Text with places: {@code {key}}, {@code {target}}, {@code {tenant}}, {@code {scope}}, {@code
 * {operation_id}}, {@code {attempt}}, {@code {first_sent}} (start of the first attempt, as an HTTP
 * date), {@code {precondition}}, {@code {principal}} and {@code {arguments.member.member}}. Braces
 * that enclose anything else are refused when it is parsed.
 */
public final class Template {
  private static final Pattern PLACE = Pattern.compile("\\{([^{}]*)}");
  private static final Pattern NAME =
      Pattern.compile(
          "key|target|tenant|scope|operation_id|attempt|precondition|principal|first_sent|arguments(\\.[A-Za-z0-9_-]+)+");

  private final List<Part> parts;

  private record Part(String text, boolean place) {}

  private Template(List<Part> parts) {
    this.parts = parts;
  }

  /**
   * Reads a template.
   *
   * @throws IllegalArgumentException when it has a place that can't be filled
   */
  public static Template parse(String text) {
    List<Part> parts = new ArrayList<>();
    Matcher matcher = PLACE.matcher(text);
    int at = 0;
    while (matcher.find()) {
      literal(parts, text.substring(at, matcher.start()));
      String name = matcher.group(1);
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            "Expected a place such as {key} or {arguments.amount}, but number "
                + (1 + parts.stream().filter(Part::place).count())
                + " is none.");
      }
      parts.add(new Part(name, true));
      at = matcher.end();
    }
    literal(parts, text.substring(at));
    return new Template(List.copyOf(parts));
  }

  private static void literal(List<Part> parts, String text) {
    if (text.indexOf('{') >= 0 || text.indexOf('}') >= 0) {
      throw new IllegalArgumentException(
          "Expected braces in pairs around a place, but one is alone.");
    }
    if (!text.isEmpty()) {
      parts.add(new Part(text, false));
    }
  }

  /** The text before the first place. */
  public String literalPrefix() {
    return parts.isEmpty() || parts.get(0).place() ? "" : parts.get(0).text();
  }

  /** Whether it has no place. */
  public boolean isLiteral() {
    return parts.stream().noneMatch(Part::place);
  }

  /** Whether it has a place of that name. */
  boolean has(String place) {
    return parts.stream().anyMatch(part -> part.place() && part.text().equals(place));
  }

  /** With the same text in each place. */
  String filledWith(String text) {
    return parts.stream()
        .map(part -> part.place() ? text : part.text())
        .collect(Collectors.joining());
  }

  /** The name of the only place when there is nothing else, else null. */
  @Nullable String onlyPlace() {
    return parts.size() == 1 && parts.get(0).place() ? parts.get(0).text() : null;
  }

  /** Filled in as it is. */
  public String fill(TemplateValues values) {
    return fill(values, false);
  }

  /**
   * Filled in, each value percent-encoded so that it stays within its path segment or query value.
   */
  public String fillUrl(TemplateValues values) {
    return fill(values, true);
  }

  private String fill(TemplateValues values, boolean encode) {
    StringBuilder out = new StringBuilder();
    for (Part part : parts) {
      if (!part.place()) {
        out.append(part.text());
        continue;
      }
      JsonNode value = values.require(part.text());
      String text = value.isValueNode() ? value.asText() : value.toString();
      if (encode && (text.isEmpty() || text.equals(".") || text.equals(".."))) {
        throw new TemplateValues.MissingValueException(part.text());
      }
      out.append(encode ? percentEncoded(text) : text);
    }
    return out.toString();
  }

  private static String percentEncoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("*", "%2A")
        .replace("%7E", "~");
  }

  /** The names of its places only: literal parts may hold secrets. */
  @Override
  public String toString() {
    return "Template" + parts.stream().filter(Part::place).map(Part::text).toList();
  }
}
