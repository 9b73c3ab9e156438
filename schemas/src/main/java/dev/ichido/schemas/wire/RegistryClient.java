package dev.ichido.schemas.wire;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ichido.schemas.PublishedSchema;
import dev.ichido.schemas.TopicSpec;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.Schema;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * The part of the registry's REST interface that writers and readers need. Schema ids never change
 * their meaning, so what was learned is kept for good. Connections end when nobody refers to the
 * client any more. Safe for use by many threads.
 */
public final class RegistryClient {
  /** What the schemas of this module are held to: writers and readers are upgraded in any order. */
  public static final String COMPATIBILITY = "FULL_TRANSITIVE";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MEDIA_TYPE = "application/vnd.schemaregistry.v1+json";
  private static final int SUBJECT_NOT_FOUND = 40401;
  private static final int VERSION_NOT_FOUND = 40402;
  private static final int SCHEMA_NOT_FOUND = 40403;

  private final RegistrySettings settings;
  private final List<URI> urls;
  private final HttpClient http;
  private final Map<Written, Integer> ids = new ConcurrentHashMap<>();
  private final Map<Integer, Schema> schemas = new ConcurrentHashMap<>();
  private volatile int preferred;

  private record Written(String subject, Schema schema) {}

  /**
   * A client that has not yet called anywhere.
   *
   * @param config {@code schema.registry.url} and, when needed, Confluent's keys for credentials,
   *     TLS, timeouts and retries; unknown keys are ignored
   */
  public static RegistryClient from(Map<String, ?> config) {
    return new RegistryClient(new RegistrySettings(config));
  }

  RegistryClient(RegistrySettings settings) {
    this.settings = settings;
    this.urls = settings.urls();
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(settings.connectTimeout());
    settings.tls().ifPresent(builder::sslContext);
    this.http = builder.build();
  }

  boolean autoRegister() {
    return settings.autoRegister();
  }

  /**
   * Registers the schema, or finds it registered.
   *
   * @return its id
   * @throws SchemaRefusedException when the registry does not take it
   * @throws RegistryUnavailableException when there is no usable answer
   */
  public int register(String subject, Schema schema) {
    Integer known = ids.get(new Written(subject, schema));
    return known != null ? known : learn(subject, schema, "/versions");
  }

  /**
   * The id under which the schema is registered.
   *
   * @throws SchemaRefusedException when it is not registered
   * @throws RegistryUnavailableException when there is no usable answer
   */
  public int requireId(String subject, Schema schema) {
    Integer known = ids.get(new Written(subject, schema));
    return known != null ? known : learn(subject, schema, "");
  }

  /** A topic's schema as the registry has it. */
  public record Registered(String subject, int id, Optional<String> compatibility) {}

  /**
   * Registers the schemas of the topics ahead of time, so that a writer without the right to do so
   * finds them, and a schema that does not fit is found at start-up.
   *
   * @return one for each topic, in order; the compatibility level that the registry holds the
   *     subject to is {@link #COMPATIBILITY} where it guards both readers and writers, and is not
   *     changed here where it is another
   * @throws SchemaRefusedException when the registry does not take one
   * @throws RegistryUnavailableException when there is no usable answer
   */
  public List<Registered> registerAll(List<TopicSpec> topics) {
    List<Registered> registered = new ArrayList<>();
    for (TopicSpec topic : topics) {
      int id = register(topic.subject(), topic.schema());
      registered.add(new Registered(topic.subject(), id, findCompatibility(topic.subject())));
    }
    return registered;
  }

  private Optional<String> findCompatibility(String subject) {
    Answer answer = call("GET /config/" + encoded(subject) + "?defaultToGlobal=true", null);
    return Optional.ofNullable(answer.body.path("compatibilityLevel").textValue());
  }

  private int learn(String subject, Schema schema, String resource) {
    Schema published = PublishedSchema.of(schema);
    String request = "POST /subjects/" + encoded(subject) + resource;
    String body = JSON.createObjectNode().put("schema", published.toString()).toString();
    Answer answer = call(request, body);
    if (answer.status == 200 && answer.body.path("id").isInt()) {
      int id = answer.body.path("id").intValue();
      ids.put(new Written(subject, schema), id);
      return id;
    }
    String name = schema.getFullName();
    if (answer.status == 409) {
      throw SchemaRefusedException.incompatible(subject, name, answer.message());
    }
    if (answer.errorCode() == SUBJECT_NOT_FOUND || answer.errorCode() == SCHEMA_NOT_FOUND) {
      throw SchemaRefusedException.notRegistered(subject, name);
    }
    if (answer.errorCode() != 0) {
      throw SchemaRefusedException.rejected(subject, name, answer.status, answer.message());
    }
    throw RegistryUnavailableException.notARegistry(answer.url, request, answer.status, null);
  }

  /**
   * The schema that a writer used.
   *
   * @param topic that the id was read in
   * @throws UndecodableRecordException when the registry knows the topic, but not the id
   * @throws RegistryUnavailableException when there is no usable answer, or when the registry does
   *     not know the topic at all
   */
  public Schema requireSchema(String topic, int id) {
    Schema known = schemas.get(id);
    if (known != null) {
      return known;
    }
    String request = "GET /schemas/ids/" + id;
    Answer answer = call(request, null);
    if (answer.status == 200 && answer.body.path("schema").isTextual()) {
      Schema schema = parsed(topic, id, answer.body);
      schemas.put(id, schema);
      return schema;
    }
    if (answer.errorCode() == SCHEMA_NOT_FOUND) {
      String subject = topic + "-value";
      if (!knows(subject)) {
        throw RegistryUnavailableException.forgotten(topic, subject, id);
      }
      throw UndecodableRecordException.unknownSchema(topic, id);
    }
    throw RegistryUnavailableException.notARegistry(answer.url, request, answer.status, null);
  }

  private static Schema parsed(String topic, int id, JsonNode body) {
    String type = body.path("schemaType").asText("AVRO");
    if (!type.equals("AVRO")) {
      throw UndecodableRecordException.unusableSchema(topic, id, "it is of type " + type, null);
    }
    if (!body.path("references").isEmpty()) {
      throw UndecodableRecordException.unusableSchema(
          topic, id, "it refers to schemas of other subjects", null);
    }
    try {
      // What another system registered may break rules that only its own parser knows.
      return new Schema.Parser(org.apache.avro.NameValidator.NO_VALIDATION)
          .setValidateDefaults(false)
          .parse(body.path("schema").textValue());
    } catch (RuntimeException e) {
      throw UndecodableRecordException.unusableSchema(topic, id, "it does not parse", e);
    }
  }

  private boolean knows(String subject) {
    String request = "GET /subjects/" + encoded(subject) + "/versions/latest";
    Answer answer = call(request, null);
    if (answer.status == 200) {
      return true;
    }
    if (answer.errorCode() == SUBJECT_NOT_FOUND || answer.errorCode() == VERSION_NOT_FOUND) {
      return false;
    }
    throw RegistryUnavailableException.notARegistry(answer.url, request, answer.status, null);
  }

  private record Answer(String url, int status, JsonNode body) {
    int errorCode() {
      return body.path("error_code").asInt(0);
    }

    String message() {
      return body.path("message").asText("no reason given");
    }
  }

  private Answer call(String request, @Nullable String body) {
    for (int retry = 0; ; retry++) {
      try {
        return callOnce(request, body);
      } catch (RegistryUnavailableException e) {
        if (retry == settings.maxRetries() || e.code().equals("REGISTRY_ACCESS")) {
          throw e;
        }
      }
      pause(retry + 1);
    }
  }

  private void pause(int retry) {
    try {
      Thread.sleep(settings.retryWait(retry).toMillis());
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  /** Tries every URL once, beginning with the one that answered last. */
  private Answer callOnce(String request, @Nullable String body) {
    int first = preferred;
    @Nullable RegistryUnavailableException failure = null;
    for (int i = 0; i < urls.size(); i++) {
      int turn = (first + i) % urls.size();
      try {
        Answer answer = exchange(urls.get(turn), request, body);
        preferred = turn;
        return answer;
      } catch (RegistryUnavailableException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    throw java.util.Objects.requireNonNull(failure);
  }

  private Answer exchange(URI url, String request, @Nullable String body) {
    String shown = shown(url);
    int space = request.indexOf(' ');
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create(shown + request.substring(space + 1)))
            .timeout(settings.readTimeout())
            .header("Accept", MEDIA_TYPE + ", application/json")
            .method(
                request.substring(0, space),
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
    if (body != null) {
      builder.header("Content-Type", MEDIA_TYPE);
    }
    settings.authorization(url).ifPresent(value -> builder.header("Authorization", value));
    HttpResponse<byte[]> response;
    try {
      response = http.send(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw RegistryUnavailableException.unreachable(shown, request, e);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
    int status = response.statusCode();
    if (status == 401 || status == 403) {
      throw RegistryUnavailableException.access(shown, request, status);
    }
    Optional<JsonNode> json = json(response.body());
    if (status >= 500 || status == 408 || status == 429) {
      String code =
          json.map(node -> node.path("error_code").asInt(0))
              .filter(value -> value != 0)
              .map(value -> " (error code " + value + ")")
              .orElse("");
      throw RegistryUnavailableException.failing(shown, request, status, code);
    }
    return new Answer(
        shown,
        status,
        json.orElseThrow(
            () -> RegistryUnavailableException.notARegistry(shown, request, status, null)));
  }

  private static Optional<JsonNode> json(byte[] body) {
    try {
      return Optional.of(JSON.readTree(body)).filter(JsonNode::isContainerNode);
    } catch (JacksonException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new AssertionError("Reading from memory does no input.", e);
    }
  }

  /** The URL without user and password, as it may be logged. */
  private static String shown(URI url) {
    String text = url.toString();
    String userInfo = url.getRawUserInfo();
    return userInfo == null ? text : text.replace(userInfo + "@", "");
  }

  private static String encoded(String segment) {
    return URLEncoder.encode(segment, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
