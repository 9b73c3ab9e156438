package dev.ichido.remotes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The control surface of a {@link RemoteServer} that runs in another process. */
public final class RemoteControl implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(LIMIT).build();
  private final URI base;

  /**
   * Talks to the one at that address.
   *
   * @param base as {@code http://127.0.0.1:8080}, without a slash at its end
   */
  public RemoteControl(URI base) {
    this.base = base;
  }

  /**
   * What has happened there so far.
   *
   * @throws RemoteException CONTROL_FAILED, as all of these
   */
  public BookReading book() {
    return BookReading.fromJson(call("GET", "/_book", Json.object()));
  }

  public Calls calls() {
    JsonNode json = call("GET", "/_calls", Json.object());
    Map<String, Integer> byKey = new HashMap<>();
    json.path("writes_by_key")
        .properties()
        .forEach(e -> byKey.put(e.getKey(), e.getValue().asInt()));
    return new Calls(json.path("writes").asLong(), json.path("reads").asLong(), byKey);
  }

  public void add(Fault... faults) {
    ObjectNode body = Json.object();
    ArrayNode queue = body.putArray("queue");
    for (Fault fault : faults) {
      queue.add(fault.toJson());
    }
    call("POST", "/_faults", body);
  }

  public void random(long seed, List<Faults.Rule> rules) {
    ObjectNode body = Json.object();
    ObjectNode random = body.putObject("random");
    random.put("seed", seed);
    ArrayNode all = random.putArray("rules");
    for (Faults.Rule rule : rules) {
      all.addObject().put("probability", rule.probability()).set("fault", rule.fault().toJson());
    }
    call("POST", "/_faults", body);
  }

  public void status(StatusMode mode) {
    ObjectNode body = Json.object();
    body.set("status", mode.toJson());
    call("POST", "/_faults", body);
  }

  public void clear() {
    call("DELETE", "/_faults", Json.object());
  }

  public void release() {
    call("POST", "/_faults/release", Json.object());
  }

  /** How many requests are held or slow at the moment. */
  public int held() {
    return call("GET", "/_faults", Json.object()).path("held").asInt();
  }

  /** How many requests met a fault of that kind. */
  public int met(FaultKind fault) {
    return call("GET", "/_faults", Json.object()).path("met").path(fault.label()).asInt();
  }

  public void advanceClock(Duration by) {
    call("POST", "/_clock", Json.object().put("advance_ms", by.toMillis()));
  }

  @Override
  public void close() {
    http.close();
  }

  private JsonNode call(String method, String path, JsonNode body) {
    HttpRequest.BodyPublisher publisher =
        method.equals("POST")
            ? HttpRequest.BodyPublishers.ofByteArray(Json.bytes(body))
            : HttpRequest.BodyPublishers.noBody();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path))
            .timeout(LIMIT)
            .method(method, publisher)
            .build();
    String what = method + " " + path;
    try {
      HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
      if (response.statusCode() != 200) {
        throw RemoteException.controlFailed(what + " with 200", null);
      }
      return Json.parse(response.body());
    } catch (IOException e) {
      throw RemoteException.controlFailed(what, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw RemoteException.controlFailed(what, e);
    }
  }
}
