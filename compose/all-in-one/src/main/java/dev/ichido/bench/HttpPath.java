package dev.ichido.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.app.DevelopmentTokens;
import dev.ichido.app.Stack;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The whole path through the HTTP door: one request, answered when the operation is settled. */
final class HttpPath implements OncePath {
  private static final JsonMapper JSON = new JsonMapper();

  private final Stack stack;
  private final HttpClient http = HttpClient.newHttpClient();
  private final URI actions;
  private final Map<String, String> tokens = new HashMap<>();

  HttpPath(Stack stack, Path folder) {
    this.stack = stack;
    this.actions = URI.create(stack.endpoints().gatewayUrl() + "/v1/actions/");
    try {
      DevelopmentTokens.read(folder).forEach(it -> tokens.put(it.tenant(), it.token()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public CompletableFuture<String> call(Call call) {
    HttpRequest request =
        HttpRequest.newBuilder(actions.resolve(call.action()))
            .header("Authorization", "Bearer " + tokens.get(call.tenant()))
            .header("Idempotency-Key", '"' + call.operationId() + '"')
            .header("Ichido-Issued-At", call.issuedAt().toString())
            .header("Prefer", "wait=60")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(call.arguments()))
            .build();
    return http.sendAsync(request, BodyHandlers.ofString())
        .thenApply(answer -> verdict(answer.body()));
  }

  private static String verdict(String body) {
    try {
      return JSON.readTree(body).path("verdict").asText();
    } catch (JsonProcessingException e) {
      return body;
    }
  }

  @Override
  public Iterable<Long> servers() {
    return stack.databasePid().stream().toList();
  }

  @Override
  public void close() {
    http.close();
  }
}
