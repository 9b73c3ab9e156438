package dev.ichido.executor.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Members as a form, nested ones in brackets, as Stripe and Rails write them. */
final class FormBody {
  private FormBody() {}

  /**
   * Writes a form.
   *
   * @throws IllegalArgumentException when it is no object
   */
  static String of(JsonNode fields) {
    if (!fields.isObject()) {
      throw new IllegalArgumentException("Expected an object to write as a form, but it is none.");
    }
    StringBuilder form = new StringBuilder();
    for (Map.Entry<String, JsonNode> member : fields.properties()) {
      append(form, member.getKey(), member.getValue());
    }
    return form.toString();
  }

  private static void append(StringBuilder form, String name, JsonNode value) {
    if (value.isObject()) {
      for (Map.Entry<String, JsonNode> member : value.properties()) {
        append(form, name + "[" + member.getKey() + "]", member.getValue());
      }
    } else if (value.isArray()) {
      for (int i = 0; i < value.size(); i++) {
        append(form, name + "[" + i + "]", value.get(i));
      }
    } else if (!value.isNull()) {
      form.append(form.isEmpty() ? "" : "&")
          .append(URLEncoder.encode(name, StandardCharsets.UTF_8))
          .append('=')
          .append(URLEncoder.encode(value.asText(), StandardCharsets.UTF_8));
    }
  }
}
