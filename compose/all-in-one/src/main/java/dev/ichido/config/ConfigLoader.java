package dev.ichido.config;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.exc.ValueInstantiationException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import dev.ichido.gateway.GatewayConfig;
import dev.ichido.relay.RelayTuning;
import dev.ichido.topology.policy.Durations;
import dev.ichido.topology.policy.LocatedTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the configuration file. {@code ${env:NAME}} and {@code ${file:/path}} are replaced in every
 * text; the last line end of such a file is left out.
 */
public final class ConfigLoader {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{([a-z]+):([^}]*)}");
  private static final String A_REFERENCE = "a reference of the form ${env:NAME} or ${file:/path}";

  /** Read by the policy loader and the executor, not here. */
  private static final Set<String> POLICY = Set.of("tenants", "actions");

  private static final Set<String> SECTIONS =
      new LinkedHashSet<>(
          List.of(
              "kafka",
              "registry",
              "topics",
              "outbox",
              "relay",
              "processor",
              "executor",
              "inbox",
              "gateway",
              "http",
              "dead_letter",
              "tenants",
              "actions"));

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_ENUMS)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
          .addModule(
              new SimpleModule()
                  .addSerializer(Duration.class, new DurationWriter())
                  .addDeserializer(Duration.class, new DurationReader()))
          .build();

  private final UnaryOperator<@Nullable String> environment;

  /**
   * With variables of its own.
   *
   * @param environment value of a variable by its name, null when it is not set
   */
  public ConfigLoader(UnaryOperator<@Nullable String> environment) {
    this.environment = environment;
  }

  /** With the variables of this process. */
  public static ConfigLoader ofProcess() {
    return new ConfigLoader(name -> name == null ? null : System.getenv(name));
  }

  /**
   * Reads, resolves and binds a file.
   *
   * @throws ConfigException with a code, the line and what to check
   */
  public IchidoConfig load(Path file) {
    return load(file.toString(), read(file));
  }

  /**
   * The text of a file, as it is.
   *
   * @throws ConfigException CONFIG_UNREADABLE
   */
  public static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw ConfigException.fileUnreadable(file.toString(), "there is no such file", e);
    } catch (IOException e) {
      throw ConfigException.fileUnreadable(
          file.toString(), "it can't be read (" + e.getMessage() + ")", e);
    }
  }

  /**
   * Resolves and binds a text.
   *
   * @param source what to call the text in messages
   */
  public IchidoConfig load(String source, String text) {
    LocatedTree read = LocatedTree.read(source, text);
    return load(source, read, resolve(source, read, read.root(), ""));
  }

  private IchidoConfig load(String source, LocatedTree located, JsonNode root) {
    if (!root.isObject() && !root.isMissingNode()) {
      throw ConfigException.valueWrong(source, located.findLine(""), "the file", "sections");
    }
    for (String name : (Iterable<String>) root::fieldNames) {
      if (!SECTIONS.contains(name)) {
        throw unknown(source, located, "/" + name, name, SECTIONS);
      }
    }
    Sections sections = new Sections(source, located, root);
    return new IchidoConfig(
        source,
        sections.bind("kafka", Settings.class, Settings.NONE),
        sections.bind("registry", Settings.class, Settings.NONE),
        sections.bind("topics", IchidoConfig.Topics.class, IchidoConfig.Topics.DEFAULT),
        sections.bind("outbox", IchidoConfig.Outbox.class, IchidoConfig.Outbox.DEFAULT),
        sections.bind("relay", RelayTuning.class, RelayTuning.DEFAULT),
        sections.bind("processor", IchidoConfig.Processor.class, IchidoConfig.Processor.DEFAULT),
        sections.bind("executor", IchidoConfig.Executor.class, IchidoConfig.Executor.DEFAULT),
        sections.bind("inbox", IchidoConfig.Inbox.class, IchidoConfig.Inbox.DEFAULT),
        sections.bind("gateway", GatewayConfig.class, GatewayConfig.DEFAULT),
        sections.bind("http", IchidoConfig.Http.class, IchidoConfig.Http.DEFAULT),
        sections.bind(
            "dead_letter", IchidoConfig.DeadLetter.class, IchidoConfig.DeadLetter.DEFAULT),
        new LocatedTree(policyOf(root), located.lines()));
  }

  private static ObjectNode policyOf(JsonNode root) {
    ObjectNode policy = JsonNodeFactory.instance.objectNode();
    for (String name : POLICY) {
      if (root.has(name)) {
        policy.set(name, root.get(name));
      }
    }
    return policy;
  }

  private JsonNode resolve(String source, LocatedTree tree, JsonNode node, String pointer) {
    if (node instanceof ObjectNode object) {
      ObjectNode resolved = JsonNodeFactory.instance.objectNode();
      for (Map.Entry<String, JsonNode> member : object.properties()) {
        resolved.set(
            member.getKey(),
            resolve(source, tree, member.getValue(), pointer + "/" + escape(member.getKey())));
      }
      return resolved;
    }
    if (node instanceof ArrayNode array) {
      ArrayNode resolved = JsonNodeFactory.instance.arrayNode();
      for (int i = 0; i < array.size(); i++) {
        resolved.add(resolve(source, tree, array.get(i), pointer + "/" + i));
      }
      return resolved;
    }
    if (!node.isTextual()) {
      return node;
    }
    if (REFERENCE.matcher(node.textValue()).replaceAll("").contains("${")) {
      throw ConfigException.valueWrong(source, tree.findLine(pointer), path(pointer), A_REFERENCE);
    }
    Matcher matcher = REFERENCE.matcher(node.textValue());
    StringBuilder text = new StringBuilder();
    while (matcher.find()) {
      matcher.appendReplacement(
          text,
          Matcher.quoteReplacement(
              secret(source, tree, pointer, matcher.group(1), matcher.group(2))));
    }
    matcher.appendTail(text);
    return JsonNodeFactory.instance.textNode(text.toString());
  }

  private String secret(String source, LocatedTree tree, String pointer, String kind, String name) {
    return switch (kind) {
      case "env" ->
          Optional.ofNullable(environment.apply(name))
              .orElseThrow(
                  () ->
                      ConfigException.secretMissing(
                          source,
                          tree.findLine(pointer),
                          path(pointer),
                          "the environment variable " + name,
                          "it is not set"));
      case "file" -> {
        try {
          yield Files.readString(Path.of(name)).replaceFirst("\\R\\z", "");
        } catch (IOException e) {
          throw ConfigException.secretMissing(
              source,
              tree.findLine(pointer),
              path(pointer),
              "the file " + name,
              "it can't be read");
        }
      }
      default ->
          throw ConfigException.valueWrong(
              source, tree.findLine(pointer), path(pointer), A_REFERENCE);
    };
  }

  /** The sections of one file, each laid over its defaults and bound. */
  private record Sections(String source, LocatedTree tree, JsonNode root) {
    <T> T bind(String name, Class<T> type, T defaults) {
      JsonNode section = root.path(name);
      if (section.isMissingNode() || section.isNull()) {
        return defaults;
      }
      if (!section.isObject()) {
        throw ConfigException.valueWrong(
            source, tree.findLine("/" + name), name, "keys and values");
      }
      try {
        JsonNode merged =
            type == Settings.class ? section : overlay(MAPPER.valueToTree(defaults), section);
        return MAPPER.treeToValue(merged, type);
      } catch (UnrecognizedPropertyException e) {
        String pointer = "/" + name + pointer(e);
        throw unknown(source, tree, pointer, e.getPropertyName(), names(e.getKnownPropertyIds()));
      } catch (JsonMappingException e) {
        String pointer = "/" + name + pointer(e);
        // A record of ours that refuses its values says it best.
        if (e instanceof ValueInstantiationException
            && e.getCause() instanceof IllegalArgumentException own
            && own.getMessage() != null) {
          throw ConfigException.refused(source, tree.findLine(pointer), own.getMessage(), e);
        }
        throw ConfigException.valueWrong(
            source, tree.findLine(pointer), path(pointer), expected(e));
      } catch (JsonProcessingException e) {
        throw ConfigException.valueWrong(
            source, tree.findLine("/" + name), name, "keys and values");
      }
    }
  }

  private static ConfigException unknown(
      String source, LocatedTree tree, String pointer, String name, Collection<String> known) {
    return ConfigException.keyUnknown(
        source,
        tree.findLine(pointer),
        path(pointer),
        nearest(name, known),
        String.join(", ", known));
  }

  private static JsonNode overlay(JsonNode under, JsonNode over) {
    if (!(under instanceof ObjectNode below) || !(over instanceof ObjectNode above)) {
      return over;
    }
    ObjectNode merged = below.deepCopy();
    for (Map.Entry<String, JsonNode> member : above.properties()) {
      JsonNode here = merged.get(member.getKey());
      merged.set(
          member.getKey(), here == null ? member.getValue() : overlay(here, member.getValue()));
    }
    return merged;
  }

  private static Collection<String> names(@Nullable Collection<Object> ids) {
    Set<String> names = new TreeSet<>();
    if (ids != null) {
      ids.forEach(id -> names.add(id.toString()));
    }
    return names;
  }

  private static String pointer(JsonMappingException e) {
    StringBuilder pointer = new StringBuilder();
    for (JsonMappingException.Reference step : e.getPath()) {
      pointer
          .append('/')
          .append(step.getFieldName() == null ? step.getIndex() : escape(step.getFieldName()));
    }
    return pointer.toString();
  }

  private static String expected(JsonMappingException e) {
    if (e instanceof com.fasterxml.jackson.databind.exc.MismatchedInputException mismatch) {
      Class<?> type = mismatch.getTargetType();
      if (type == int.class || type == long.class || type == Long.class || type == short.class) {
        return "a whole number";
      }
      if (type == Duration.class) {
        return "a duration such as 500ms, 30s or 24h, of 36500d at most";
      }
      if (type == String.class) {
        return "a text";
      }
      if (type != null && type.isEnum()) {
        return "one of "
            + Stream.of(type.getEnumConstants())
                .map(constant -> constant.toString().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
      }
    }
    return "a value of its kind";
  }

  private static String escape(String name) {
    return name.replace("~", "~0").replace("/", "~1");
  }

  private static String path(String pointer) {
    return pointer.isEmpty() ? "the file" : pointer.substring(1).replace('/', '.');
  }

  /** The known name with the fewest edits, if these are few. */
  private static @Nullable String nearest(String name, Collection<String> known) {
    String best = null;
    int least = Math.max(2, name.length() / 2) + 1;
    for (String candidate : known) {
      int edits = edits(name, candidate);
      if (edits < least) {
        least = edits;
        best = candidate;
      }
    }
    return best;
  }

  private static int edits(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int above = row[j];
        row[j] =
            Math.min(
                Math.min(above, row[j - 1]) + 1,
                diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1));
        diagonal = above;
      }
    }
    return row[b.length()];
  }

  private static final class DurationWriter extends StdSerializer<Duration> {
    private static final long serialVersionUID = 1L;

    DurationWriter() {
      super(Duration.class);
    }

    @Override
    public void serialize(
        Duration duration, JsonGenerator generator, SerializerProvider serializers)
        throws IOException {
      generator.writeString(duration.toMillis() + "ms");
    }
  }

  private static final class DurationReader extends StdDeserializer<Duration> {
    private static final long serialVersionUID = 1L;

    DurationReader() {
      super(Duration.class);
    }

    @Override
    public Duration deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      String text = parser.getText();
      Optional<Duration> read = Durations.tryParseSetting(text);
      return read.isPresent()
          ? read.get()
          : (Duration) context.handleWeirdStringValue(Duration.class, text, "no duration");
    }
  }
}
