package dev.ichido.registry;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.registry.RegistryEvent.Mode;
import dev.ichido.registry.Subjects.Version;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** Confluent's REST interface, as far as clients that write, read and check schemas use it. */
final class RegistryRoutes {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String DEFAULT_CONTEXT = ":.:";

  private final Subjects subjects;

  RegistryRoutes(Subjects subjects) {
    this.subjects = subjects;
  }

  /**
   * @return what is sent back as JSON
   * @throws RegistryError when the request is answered with an error
   */
  Object answer(String method, String rawPath, @Nullable String rawQuery, byte[] body) {
    List<String> path =
        Arrays.stream(withoutLastSlash(rawPath).split("/", -1))
            .skip(1)
            .map(RegistryRoutes::decoded)
            .toList();
    Request request =
        new Request(method, path, query(rawQuery), new String(body, StandardCharsets.UTF_8));
    return switch (path.isEmpty() ? "" : path.getFirst()) {
      case "" -> request.only("GET", JSON.createObjectNode());
      case "schemas" -> schemas(request);
      case "subjects" -> subjects(request);
      case "compatibility" -> compatibility(request);
      case "config" -> config(request);
      case "mode" -> mode(request);
      case "contexts" -> request.only("GET", List.of("."));
      case "v1" -> metadata(request);
      default -> throw RegistryError.noSuchResource();
    };
  }

  private record Request(String method, List<String> path, Map<String, String> query, String body) {
    int length() {
      return path.size();
    }

    String segment(int index) {
      return path.get(index);
    }

    boolean has(int index, String segment) {
      return index < path.size() && path.get(index).equals(segment);
    }

    /** Clients may name the default context before a subject. */
    String subject(int index) {
      String subject = path.get(index);
      return subject.startsWith(DEFAULT_CONTEXT)
          ? subject.substring(DEFAULT_CONTEXT.length())
          : subject;
    }

    boolean flag(String name) {
      return Boolean.parseBoolean(query.getOrDefault(name, "false"));
    }

    boolean is(String wanted) {
      return method.equals(wanted);
    }

    Object only(String allowed, Object answer) {
      if (!is(allowed)) {
        throw RegistryError.methodNotAllowed();
      }
      return answer;
    }

    JsonNode json() {
      try {
        JsonNode json = JSON.readTree(body);
        if (json != null && json.isObject()) {
          return json;
        }
      } catch (JacksonException e) {
        throw RegistryError.notJson();
      }
      throw RegistryError.notJson();
    }

    Schema schema() {
      JsonNode json = json();
      String type = json.path("schemaType").asText("AVRO");
      if (!type.equals("AVRO")) {
        throw RegistryError.invalidSchema("only AVRO is kept here, not " + type);
      }
      if (!json.path("references").isEmpty()) {
        throw RegistryError.invalidSchema("references to other subjects are not kept here");
      }
      if (!json.path("schema").isTextual()) {
        throw RegistryError.invalidSchema("member \"schema\" is missing or no text");
      }
      return Subjects.parsed(json.path("schema").textValue());
    }
  }

  private Object schemas(Request request) {
    if (!request.is("GET")) {
      throw RegistryError.methodNotAllowed();
    }
    if (request.length() == 1) {
      String prefix = request.query.getOrDefault("subjectPrefix", "");
      String wanted = prefix.startsWith(DEFAULT_CONTEXT) ? prefix.substring(3) : prefix;
      boolean deleted = request.flag("deleted");
      boolean latest = request.flag("latestOnly");
      return subjects.names(wanted, deleted).stream()
          .map(name -> subjects.versions(name, deleted))
          .flatMap(all -> (latest ? all.subList(all.size() - 1, all.size()) : all).stream())
          .map(RegistryRoutes::json)
          .toList();
    }
    if (request.length() == 2 && request.has(1, "types")) {
      return List.of("AVRO");
    }
    if (request.length() < 3 || !request.has(1, "ids")) {
      throw RegistryError.noSuchResource();
    }
    String shown = request.segment(2);
    int id = number(shown);
    String text = subjects.findText(id).orElseThrow(() -> RegistryError.schemaNotFound(shown));
    if (request.length() == 3) {
      return JSON.createObjectNode().put("schema", text);
    }
    List<Version> versions = subjects.versionsOf(id, request.flag("deleted"));
    return switch (request.segment(3)) {
      case "schema" -> tree(text);
      case "subjects" -> versions.stream().map(Version::subject).distinct().toList();
      case "versions" ->
          versions.stream()
              .map(v -> Map.of("subject", v.subject(), "version", v.version()))
              .toList();
      default -> throw RegistryError.noSuchResource();
    };
  }

  private static int number(String id) {
    try {
      return Integer.parseInt(id);
    } catch (NumberFormatException e) {
      throw RegistryError.schemaNotFound(id);
    }
  }

  private Object subjects(Request request) {
    boolean deleted = request.flag("deleted");
    if (request.length() == 1) {
      return request.only(
          "GET", subjects.names(request.query.getOrDefault("subjectPrefix", ""), deleted));
    }
    String subject = request.subject(1);
    if (request.length() == 2) {
      return switch (request.method) {
        case "POST" -> json(subjects.requireRegistered(subject, request.schema(), deleted));
        case "DELETE" -> {
          refusePermanent(request);
          yield subjects.delete(subject);
        }
        default -> throw RegistryError.methodNotAllowed();
      };
    }
    if (!request.has(2, "versions")) {
      throw RegistryError.noSuchResource();
    }
    if (request.length() == 3) {
      return switch (request.method) {
        case "GET" -> subjects.versions(subject, deleted).stream().map(Version::version).toList();
        case "POST" -> register(subject, request);
        default -> throw RegistryError.methodNotAllowed();
      };
    }
    String version = request.segment(3);
    if (request.length() == 4 && request.is("DELETE")) {
      refusePermanent(request);
      return subjects.delete(subject, version);
    }
    Version found = subjects.require(subject, version, deleted);
    if (request.length() == 4) {
      return request.only("GET", json(found));
    }
    return switch (request.segment(4)) {
      case "schema" -> request.only("GET", tree(found.text()));
      case "referencedby" -> request.only("GET", List.of());
      default -> throw RegistryError.noSuchResource();
    };
  }

  private Object register(String subject, Request request) {
    Schema schema = request.schema();
    if (request.json().path("id").asInt(-1) > 0) {
      throw RegistryError.notPermitted("Subject " + subject + " is not in import mode");
    }
    return JSON.createObjectNode().put("id", subjects.register(subject, schema).id());
  }

  private static void refusePermanent(Request request) {
    if (request.flag("permanent")) {
      throw RegistryError.notPermitted(
          "Schemas are kept for good: records that were written with them could not be read any more");
    }
  }

  private Object compatibility(Request request) {
    if (!request.has(1, "subjects") || !request.has(3, "versions") || request.length() > 5) {
      throw RegistryError.noSuchResource();
    }
    if (!request.is("POST")) {
      throw RegistryError.methodNotAllowed();
    }
    String subject = request.subject(2);
    Schema schema = request.schema();
    List<String> objections =
        request.length() == 4
            ? subjects.objections(subject, schema)
            : subjects.objections(subject, request.segment(4), schema);
    ObjectNode answer = JSON.createObjectNode().put("is_compatible", objections.isEmpty());
    if (request.flag("verbose")) {
      objections.forEach(answer.putArray("messages")::add);
    }
    return answer;
  }

  private Object config(Request request) {
    if (request.length() > 2) {
      throw RegistryError.noSuchResource();
    }
    String subject = request.length() == 2 ? request.subject(1) : null;
    return switch (request.method) {
      case "GET" -> {
        CompatibilityLevel level =
            subject == null
                ? subjects.globalLevel()
                : request.flag("defaultToGlobal")
                    ? subjects.effectiveLevel(subject)
                    : subjects
                        .findLevel(subject)
                        .orElseThrow(() -> RegistryError.noCompatibilityOfItsOwn(subject));
        yield Map.of("compatibilityLevel", level);
      }
      case "PUT" -> {
        CompatibilityLevel level =
            CompatibilityLevel.find(request.json().path("compatibility").asText())
                .orElseThrow(RegistryError::invalidCompatibility);
        subjects.setLevel(subject, level);
        yield Map.of("compatibility", level);
      }
      case "DELETE" -> {
        CompatibilityLevel before =
            subject == null
                ? subjects.globalLevel()
                : subjects
                    .findLevel(subject)
                    .orElseThrow(() -> RegistryError.noCompatibilityOfItsOwn(subject));
        subjects.setLevel(subject, null);
        yield Map.of("compatibilityLevel", before);
      }
      default -> throw RegistryError.methodNotAllowed();
    };
  }

  private Object mode(Request request) {
    if (request.length() > 2) {
      throw RegistryError.noSuchResource();
    }
    String subject = request.length() == 2 ? request.subject(1) : null;
    return switch (request.method) {
      case "GET" -> {
        Mode mode =
            subject == null
                ? subjects.globalMode()
                : request.flag("defaultToGlobal")
                    ? subjects.effectiveMode(subject)
                    : subjects
                        .findMode(subject)
                        .orElseThrow(() -> RegistryError.noModeOfItsOwn(subject));
        yield Map.of("mode", mode);
      }
      case "PUT" -> {
        String name = request.json().path("mode").asText().toUpperCase(Locale.ROOT);
        Mode mode =
            Arrays.stream(Mode.values())
                .filter(value -> value.name().equals(name))
                .findFirst()
                .orElseThrow(RegistryError::invalidMode);
        subjects.setMode(subject, mode);
        yield Map.of("mode", mode);
      }
      case "DELETE" -> {
        if (subject == null) {
          throw RegistryError.methodNotAllowed();
        }
        Mode before =
            subjects.findMode(subject).orElseThrow(() -> RegistryError.noModeOfItsOwn(subject));
        subjects.setMode(subject, null);
        yield Map.of("mode", before);
      }
      default -> throw RegistryError.methodNotAllowed();
    };
  }

  private static Object metadata(Request request) {
    if (request.length() == 3 && request.has(1, "metadata")) {
      return switch (request.segment(2)) {
        case "id" ->
            request.only(
                "GET",
                Map.of(
                    "id",
                    "",
                    "scope",
                    Map.of(
                        "path",
                        List.of(),
                        "clusters",
                        Map.of("schema-registry-cluster", "ichido"))));
        case "version" -> request.only("GET", Map.of("version", "ichido", "commitId", ""));
        default -> throw RegistryError.noSuchResource();
      };
    }
    throw RegistryError.noSuchResource();
  }

  private static ObjectNode json(Version version) {
    return JSON.createObjectNode()
        .put("subject", version.subject())
        .put("version", version.version())
        .put("id", version.id())
        .put("schema", version.text());
  }

  private static JsonNode tree(String text) {
    try {
      return JSON.readTree(text);
    } catch (JacksonException e) {
      throw new AssertionError("A parsed schema prints itself as JSON.", e);
    }
  }

  private static Map<String, String> query(@Nullable String raw) {
    Map<String, String> query = new HashMap<>();
    if (raw != null) {
      for (String pair : raw.split("&", -1)) {
        int equals = pair.indexOf('=');
        if (equals > 0) {
          query.put(decoded(pair.substring(0, equals)), decoded(pair.substring(equals + 1)));
        }
      }
    }
    return query;
  }

  private static String withoutLastSlash(String path) {
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  private static String decoded(String raw) {
    try {
      // In a path "+" is itself, not a blank.
      return URLDecoder.decode(raw.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw RegistryError.noSuchResource();
    }
  }
}
