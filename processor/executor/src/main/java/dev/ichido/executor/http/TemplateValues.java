package dev.ichido.executor.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.executor.ToolCommand;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values that a command offers to the places of a template. */
final class TemplateValues {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);

  private final ToolCommand command;
  private @Nullable JsonNode arguments;

  TemplateValues(ToolCommand command) {
    this.command = command;
  }

  /** A place has no value in this command, so the request can't be built. */
  static final class MissingValueException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MissingValueException(String place) {
      super("Expected a value for {" + place + "}, but the command has none.");
    }
  }

  JsonNode arguments() {
    JsonNode parsed = arguments;
    if (parsed == null) {
      try {
        parsed = Json.EXACT.readTree(command.arguments());
      } catch (JsonProcessingException e) {
        throw new MissingValueException("arguments");
      }
      arguments = parsed;
    }
    return parsed;
  }

  JsonNode require(String place) {
    JsonNode value =
        switch (place) {
          case "key" -> text(command.downstreamKey());
          case "target" -> text(command.target());
          case "tenant" -> text(command.tenant());
          case "scope" -> text(command.scope());
          case "operation_id" -> text(command.operationId());
          case "attempt" -> NODES.numberNode(command.attempt());
          case "precondition" -> text(command.precondition());
          case "first_sent" ->
              command.firstAttemptAt() == null
                  ? null
                  : text(HTTP_DATE.format(command.firstAttemptAt().atOffset(ZoneOffset.UTC)));
          case "principal" -> text(command.principal());
          default -> argument(place);
        };
    if (value == null || value.isNull() || value.isMissingNode()) {
      throw new MissingValueException(place);
    }
    return value;
  }

  private @Nullable JsonNode argument(String place) {
    JsonNode at = arguments();
    for (String member : place.substring("arguments.".length()).split("\\.", -1)) {
      at = at.path(member);
    }
    return at;
  }

  private static @Nullable JsonNode text(@Nullable String value) {
    return value == null ? null : NODES.textNode(value);
  }

  /**
   * A copy of the template in which each text that is one place becomes the value, with its type,
   * and other texts are filled in. A member whose only place has no value is left out.
   */
  JsonNode fill(JsonNode template) {
    if (template.isObject()) {
      ObjectNode out = NODES.objectNode();
      for (Map.Entry<String, JsonNode> member : template.properties()) {
        JsonNode value = member.getValue();
        if (value.isTextual() && Template.parse(value.textValue()).onlyPlace() != null) {
          try {
            out.set(member.getKey(), fill(value));
          } catch (MissingValueException e) {
            out.remove(member.getKey());
          }
        } else {
          out.set(member.getKey(), fill(value));
        }
      }
      return out;
    }
    if (template.isArray()) {
      var out = NODES.arrayNode();
      template.forEach(element -> out.add(fill(element)));
      return out;
    }
    if (!template.isTextual()) {
      return template;
    }
    Template text = Template.parse(template.textValue());
    String only = text.onlyPlace();
    return only == null ? NODES.textNode(text.fill(this)) : require(only);
  }
}
