package dev.ichido.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryServerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String V1 = record("{'name':'a','type':'string'}");
  private static final String V2 =
      record("{'name':'a','type':'string'},{'name':'b','type':'int','default':0}");
  private static final String INCOMPATIBLE =
      record("{'name':'a','type':'string'},{'name':'b','type':'int'}");

  private final HttpClient http = HttpClient.newHttpClient();
  private final InMemoryRegistryLog log = new InMemoryRegistryLog();
  private RegistryServer server;

  private static String record(String fields) {
    return ("{'type':'record','name':'R','namespace':'n','fields':[" + fields + "]}")
        .replace('\'', '"');
  }

  @BeforeEach
  void start() throws IOException {
    server = RegistryServer.start(log, 0);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private record Answer(int status, JsonNode body) {
    int code() {
      return body.path("error_code").asInt();
    }
  }

  private Answer call(String method, String path, String body, String contentType) {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(server.url() + path))
              .method(method, HttpRequest.BodyPublishers.ofString(body));
      if (!contentType.isEmpty()) {
        request.header("Content-Type", contentType);
      }
      HttpResponse<String> response =
          http.send(request.build(), HttpResponse.BodyHandlers.ofString());
      return new Answer(response.statusCode(), JSON.readTree(response.body()));
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Answer get(String path) {
    return call("GET", path, "", "");
  }

  private Answer send(String method, String path, String body) {
    return call(method, path, body, "application/vnd.schemaregistry.v1+json");
  }

  private static String wrapped(String schema) {
    return JSON.createObjectNode().put("schema", schema).toString();
  }

  private Answer register(String subject, String schema) {
    return send("POST", "/subjects/" + subject + "/versions", wrapped(schema));
  }

  @Test
  void listensOnLoopbackOnly() {
    assertThat(server.url()).isEqualTo("http://127.0.0.1:" + server.port());
  }

  @Test
  void sameSchemaKeepsItsIdUnderEverySubject() {
    assertThat(register("s", V1).body().path("id").asInt()).isEqualTo(1);
    assertThat(register("s", V2).body().path("id").asInt()).isEqualTo(2);
    assertThat(register("s", V1).body().path("id").asInt()).isEqualTo(1);
    assertThat(register("t", V2).body().path("id").asInt()).isEqualTo(2);
    assertThat(
            register("s", V1.replace("\"type\":\"record\"", "  \"type\" : \"record\""))
                .body()
                .path("id")
                .asInt())
        .as("white space is no part of a schema")
        .isEqualTo(1);

    assertThat(get("/subjects/s/versions").body().toString()).isEqualTo("[1,2]");
    assertThat(get("/subjects").body().toString()).isEqualTo("[\"s\",\"t\"]");
    assertThat(get("/schemas/ids/2/subjects").body().toString()).isEqualTo("[\"s\",\"t\"]");
    assertThat(get("/schemas/ids/2/versions").body())
        .isEqualTo(tree("[{'subject':'s','version':2},{'subject':'t','version':1}]"));
    assertThat(get("/schemas/ids/1").body().path("schema").asText())
        .isEqualTo(Subjects.parsed(V1).toString());
    assertThat(get("/schemas/ids/1/schema").body()).isEqualTo(tree(Subjects.parsed(V1).toString()));
    for (String version : List.of("2", "latest", "-1")) {
      assertThat(get("/subjects/s/versions/" + version).body())
          .isEqualTo(
              JSON.createObjectNode()
                  .put("subject", "s")
                  .put("version", 2)
                  .put("id", 2)
                  .put("schema", Subjects.parsed(V2).toString()));
    }
    assertThat(send("POST", "/subjects/s", wrapped(V2)).body().path("version").asInt())
        .isEqualTo(2);
  }

  private static JsonNode tree(String text) {
    try {
      return JSON.readTree(text.replace('\'', '"'));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void unlessToldOtherwiseEveryVersionMustReadEveryOther() {
    assertThat(get("/config").body()).isEqualTo(tree("{'compatibilityLevel':'FULL_TRANSITIVE'}"));
    register("s", V1);

    Answer refused = register("s", INCOMPATIBLE);

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo(409);
    assertThat(refused.body().path("message").asText())
        .contains("incompatible with an earlier schema")
        .contains("READER_FIELD_MISSING_DEFAULT_VALUE");
    assertThat(get("/subjects/s/versions").body().toString()).isEqualTo("[1]");
  }

  @ParameterizedTest
  @CsvSource({
    // level, may a required field be added, may a required field be removed
    "NONE, true, true",
    "BACKWARD, false, true",
    "BACKWARD_TRANSITIVE, false, true",
    "FORWARD, true, false",
    "FORWARD_TRANSITIVE, true, false",
    "FULL, false, false",
    "FULL_TRANSITIVE, false, false"
  })
  void levelDecidesWhichChangeIsTaken(String level, boolean mayAdd, boolean mayRemove) {
    send("PUT", "/config", "{\"compatibility\":\"" + level + "\"}");
    register("adding", V1);
    register("removing", INCOMPATIBLE);

    assertThat(register("adding", INCOMPATIBLE).status()).isEqualTo(mayAdd ? 200 : 409);
    assertThat(register("removing", V1).status()).isEqualTo(mayRemove ? 200 : 409);
  }

  @ParameterizedTest
  @CsvSource({"BACKWARD, 200", "BACKWARD_TRANSITIVE, 409", "FULL_TRANSITIVE, 409"})
  void transitiveLevelsLookAtEveryVersion(String level, int expected) {
    // Each step is compatible with the one before: b is added with a default, then loses it.
    send("PUT", "/config/s", "{\"compatibility\":\"" + level + "\"}");
    register("s", V1);
    register("s", V2);

    assertThat(register("s", INCOMPATIBLE).status()).isEqualTo(expected);
  }

  @Test
  void compatibilityIsTestedWithoutRegistering() {
    register("s", V1);

    assertThat(send("POST", "/compatibility/subjects/s/versions/latest", wrapped(V2)).body())
        .isEqualTo(tree("{'is_compatible':true}"));
    Answer not =
        send("POST", "/compatibility/subjects/s/versions/1?verbose=true", wrapped(INCOMPATIBLE));
    assertThat(not.body().path("is_compatible").asBoolean(true)).isFalse();
    assertThat(not.body().path("messages")).isNotEmpty();
    assertThat(send("POST", "/compatibility/subjects/s/versions", wrapped(INCOMPATIBLE)).body())
        .isEqualTo(tree("{'is_compatible':false}"));
    assertThat(send("POST", "/compatibility/subjects/new/versions/latest", wrapped(V1)).body())
        .isEqualTo(tree("{'is_compatible':true}"));
    assertThat(send("POST", "/compatibility/subjects/s/versions/9", wrapped(V1)).code())
        .isEqualTo(40402);
    assertThat(get("/subjects/s/versions").body().toString()).isEqualTo("[1]");
  }

  @Test
  void levelOfASubjectWinsUntilItIsTakenAway() {
    assertThat(get("/config/s").code()).isEqualTo(40408);
    assertThat(get("/config/s?defaultToGlobal=true").body().path("compatibilityLevel").asText())
        .isEqualTo("FULL_TRANSITIVE");
    assertThat(send("PUT", "/config/s", "{\"compatibility\":\"none\"}").body())
        .isEqualTo(tree("{'compatibility':'NONE'}"));
    register("s", V1);
    assertThat(register("s", INCOMPATIBLE).status()).isEqualTo(200);
    assertThat(call("DELETE", "/config/s", "", "").body())
        .isEqualTo(tree("{'compatibilityLevel':'NONE'}"));
    assertThat(register("s", record("{'name':'c','type':'int'}")).status()).isEqualTo(409);
    assertThat(call("DELETE", "/config/s", "", "").code()).isEqualTo(40408);
  }

  @Test
  void readOnlySubjectTakesNothingNew() {
    register("s", V1);
    assertThat(get("/mode").body()).isEqualTo(tree("{'mode':'READWRITE'}"));
    assertThat(get("/mode/s").code()).isEqualTo(40409);
    send("PUT", "/mode/s", "{\"mode\":\"READONLY\"}");

    assertThat(register("s", V2).code()).isEqualTo(42205);
    assertThat(register("s", V1).body().path("id").asInt()).isEqualTo(1);
    assertThat(register("t", V2).status()).isEqualTo(200);

    assertThat(call("DELETE", "/mode/s", "", "").body()).isEqualTo(tree("{'mode':'READONLY'}"));
    assertThat(register("s", V2).status()).isEqualTo(200);
    assertThat(send("PUT", "/mode", "{\"mode\":\"IMPORT\"}").code()).isEqualTo(42204);
  }

  @Test
  void deletedVersionIsNotOfferedButItsIdIsAnswered() {
    register("s", V1);
    register("s", V2);

    assertThat(call("DELETE", "/subjects/s/versions/1", "", "").body().asInt()).isEqualTo(1);
    assertThat(get("/subjects/s/versions").body().toString()).isEqualTo("[2]");
    assertThat(get("/subjects/s/versions?deleted=true").body().toString()).isEqualTo("[1,2]");
    assertThat(get("/schemas/ids/1").status()).isEqualTo(200);
    assertThat(get("/schemas/ids/1/versions").body()).isEmpty();
    assertThat(get("/schemas/ids/1/versions?deleted=true").body())
        .isEqualTo(tree("[{'subject':'s','version':1}]"));
    assertThat(register("s", V1).body().path("id").asInt()).isEqualTo(1);
    assertThat(get("/subjects/s/versions").body().toString()).isEqualTo("[2,3]");

    assertThat(call("DELETE", "/subjects/s", "", "").body().toString()).isEqualTo("[2,3]");
    assertThat(get("/subjects").body().toString()).isEqualTo("[]");
    assertThat(get("/subjects?deleted=true").body().toString()).isEqualTo("[\"s\"]");
    assertThat(get("/subjects/s/versions").code()).isEqualTo(40401);
    assertThat(get("/schemas/ids/2").status()).isEqualTo(200);
    assertThat(call("DELETE", "/subjects/s?permanent=true", "", "").code()).isEqualTo(42205);
  }

  @ParameterizedTest
  @CsvSource({
    "/subjects/none/versions, 404, 40401",
    "/subjects/none/versions/1, 404, 40401",
    "/subjects/s/versions/2, 404, 40402",
    "/subjects/s/versions/0, 422, 42202",
    "/subjects/s/versions/x, 422, 42202",
    "/schemas/ids/99, 404, 40403",
    "/schemas/ids/x, 404, 40403",
    "/nothing, 404, 404",
    "/schemas/nothing, 404, 404",
    "/subjects/s/nothing, 404, 404",
    "/subjects/s/versions/1/nothing, 404, 404",
    "/subjects//versions, 404, 40401",
    "/v1/nothing, 404, 404"
  })
  void errorsCarryConfluentsCodes(String path, int status, int code) {
    register("s", V1);

    Answer answer = get(path);

    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.code()).isEqualTo(code);
    assertThat(answer.body().path("message").asText()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"schema\":\"nonsense\"}",
        "{\"schema\":\"{\\\"type\\\":\\\"record\\\"}\"}",
        "{\"schema\":7}",
        "{}",
        "{\"schemaType\":\"JSON\",\"schema\":\"{}\"}",
        "{\"schema\":\"\\\"string\\\"\",\"references\":[{\"name\":\"a\"}]}"
      })
  void schemaThatIsNoneIsRefused(String body) {
    Answer answer = send("POST", "/subjects/s/versions", body);

    assertThat(answer.status()).isEqualTo(422);
    assertThat(answer.code()).isEqualTo(42201);
    assertThat(get("/subjects").body()).isEmpty();
  }

  @Test
  void requestsThatMakeNoSenseAreRefused() {
    assertThat(send("POST", "/subjects/s/versions", "not json").status()).isEqualTo(400);
    assertThat(send("POST", "/subjects/s/versions", "[]").status()).isEqualTo(400);
    assertThat(send("POST", "/subjects/s/versions", "").status()).isEqualTo(400);
    assertThat(send("PUT", "/subjects/s/versions", wrapped(V1)).status()).isEqualTo(405);
    assertThat(send("PUT", "/config", "{\"compatibility\":\"SOME\"}").code()).isEqualTo(42203);
    assertThat(call("POST", "/subjects/s/versions", wrapped(V1), "text/plain").status())
        .isEqualTo(415);
    assertThat(
            send("POST", "/subjects/s/versions", " ".repeat(RegistryServer.BODY_BYTES + 1))
                .status())
        .isEqualTo(413);
    assertThat(send("POST", "/subjects/s", wrapped(V1)).code()).isEqualTo(40401);
    register("s", V1);
    assertThat(send("POST", "/subjects/s", wrapped(V2)).code()).isEqualTo(40403);
    assertThat(
            send(
                    "POST",
                    "/subjects/s/versions",
                    JSON.createObjectNode().put("schema", V2).put("id", 7).toString())
                .code())
        .isEqualTo(42205);
  }

  @Test
  void subjectsOfTheDefaultContextAndOddNamesAreFound() {
    register("%3A.%3As", V1);
    register("a%2Fb%20c+d", V2);

    assertThat(get("/subjects").body().toString()).isEqualTo("[\"a/b c+d\",\"s\"]");
    assertThat(get("/subjects/a%2Fb%20c+d/versions").body().toString()).isEqualTo("[1]");
    assertThat(get("/contexts").body().toString()).isEqualTo("[\".\"]");
    assertThat(get("/schemas/types").body().toString()).isEqualTo("[\"AVRO\"]");
    assertThat(get("/").body()).isEqualTo(tree("{}"));
  }

  @Test
  void everythingIsThereAfterARestart() throws IOException {
    register("s", V1);
    register("s", V2);
    register("t", V2);
    send("PUT", "/config", "{\"compatibility\":\"BACKWARD\"}");
    send("PUT", "/mode/t", "{\"mode\":\"READONLY\"}");
    call("DELETE", "/subjects/s/versions/1", "", "");
    List<String> paths =
        List.of(
            "/subjects/s/versions?deleted=true",
            "/subjects/s/versions",
            "/schemas/ids/1",
            "/schemas/ids/2/versions",
            "/config",
            "/mode/t");
    List<Answer> before = paths.stream().map(this::get).toList();
    server.close();

    server = RegistryServer.start(log, 0);

    assertThat(paths.stream().map(this::get).toList()).isEqualTo(before);
    assertThat(register("new", INCOMPATIBLE).body().path("id").asInt()).isEqualTo(3);
  }

  @Test
  void oneSchemaFromManyAtOnceGetsOneId() throws Exception {
    List<Callable<Integer>> calls = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      String subject = "s" + i % 4;
      String schema = i % 2 == 0 ? V1 : V2;
      calls.add(() -> register(subject, schema).body().path("id").asInt());
    }
    try (var pool = Executors.newFixedThreadPool(8)) {
      List<Integer> ids = new ArrayList<>();
      for (Future<Integer> id : pool.invokeAll(calls)) {
        ids.add(id.get());
      }
      assertThat(ids).containsOnly(1, 2);
    }
    assertThat(log.read(0)).hasSize(4);
  }

  @Test
  void twoRegistriesOnOneLogNeverGiveAnIdTwice() throws IOException {
    try (RegistryServer second = RegistryServer.start(log, 0)) {
      RegistryServer first = server;
      register("s", V1);
      server = second;
      assertThat(register("t", V2).body().path("id").asInt()).isEqualTo(2);
      assertThat(get("/schemas/ids/1").status()).isEqualTo(200);
      server = first;
      assertThat(get("/schemas/ids/2").body().path("schema").asText())
          .isEqualTo(Subjects.parsed(V2).toString());
      assertThat(register("s", INCOMPATIBLE).status()).isEqualTo(409);
    }
  }

  @Test
  void failingStoreIsAServerErrorAndChangesNothing() throws IOException {
    RegistryLog failing =
        new RegistryLog() {
          @Override
          public List<String> read(long from) {
            return List.of();
          }

          @Override
          public boolean tryAppend(long position, String event) {
            throw RegistryLogException.notWritten(new java.sql.SQLException("gone"));
          }
        };
    server.close();
    server = RegistryServer.start(failing, 0);

    Answer answer = register("s", V1);

    assertThat(answer.status()).isEqualTo(500);
    assertThat(answer.code()).isEqualTo(50001);
    assertThat(answer.body().path("message").asText()).doesNotContain("gone");
    assertThat(get("/subjects").body()).isEmpty();
    assertThat(get("/schemas/ids/1").code()).isEqualTo(40403);
  }

  @Test
  void logOfSomethingElseIsNotGuessedAt() {
    InMemoryRegistryLog foreign = new InMemoryRegistryLog();
    foreign.tryAppend(0, "{\"event\":\"from_the_future\"}");

    assertThatThrownBy(() -> RegistryServer.start(foreign, 0))
        .isInstanceOf(RegistryLogException.class)
        .hasMessageContaining("position 0");
  }

  @Test
  void portInUseIsNamed() {
    int port = server.port();

    assertThatThrownBy(() -> RegistryServer.start(log, port))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("127.0.0.1:" + port);
  }
}
