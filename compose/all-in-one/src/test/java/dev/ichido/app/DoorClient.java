package dev.ichido.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A caller of the HTTP door, with one credential. */
final class DoorClient {
  private static final JsonMapper JSON = new JsonMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final String url;
  private final String token;

  /** What came back. */
  record Answer(HttpResponse<String> response, JsonNode body) {
    int status() {
      return response.statusCode();
    }

    String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }

    String text(String member) {
      return body.path(member).asText();
    }
  }

  DoorClient(String url, String token) {
    this.url = url;
    this.token = token;
  }

  /** With the development token of a principal. */
  static DoorClient of(String url, Path folder, String tenant, String principal)
      throws IOException {
    return DevelopmentTokens.read(folder).stream()
        .filter(it -> it.tenant().equals(tenant) && it.principal().equals(principal))
        .map(it -> new DoorClient(url, it.token()))
        .findFirst()
        .orElseThrow();
  }

  String token() {
    return token;
  }

  /** Asks for an action under a key, with further fields as name, value, name, value. */
  Answer post(String action, String key, String body, String... fields) {
    return postAsync(action, key, body, fields).join();
  }

  CompletableFuture<Answer> postAsync(String action, String key, String body, String... fields) {
    List<String> all = new ArrayList<>(List.of("Content-Type", "application/json"));
    if (!key.isEmpty()) {
      all.addAll(List.of("Idempotency-Key", key));
    }
    all.addAll(List.of(fields));
    return send(
        "POST", "/v1/actions/" + action, BodyPublishers.ofString(body), all.toArray(String[]::new));
  }

  Answer get(String path) {
    return send("GET", path, BodyPublishers.noBody()).join();
  }

  Answer delete(String path) {
    return send("DELETE", path, BodyPublishers.noBody()).join();
  }

  CompletableFuture<Answer> send(
      String method, String path, HttpRequest.BodyPublisher body, String... fields) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url + path)).method(method, body);
    if (!token.isEmpty()) {
      request.header("Authorization", "Bearer " + token);
    }
    if (fields.length > 0) {
      request.headers(fields);
    }
    return HTTP.sendAsync(request.build(), BodyHandlers.ofString())
        .thenApply(response -> new Answer(response, parse(response.body())));
  }

  private static JsonNode parse(String body) {
    try {
      return JSON.readTree(body);
    } catch (IOException e) {
      throw new UncheckedIOException(body, e);
    }
  }
}
