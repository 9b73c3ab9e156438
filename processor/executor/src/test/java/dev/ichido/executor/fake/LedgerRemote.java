package dev.ichido.executor.fake;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ichido.executor.fake.HttpExchange.Answer;
import dev.ichido.executor.fake.HttpExchange.Request;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * A legacy system without any key: each write is an effect. What is known of an operation can be
 * asked for by its natural key, {@code GET /transfers?note=...}; a write carries it as {@code
 * note}.
 */
public final class LedgerRemote implements RemoteBehaviour {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final EffectBook book = new EffectBook();

  @Override
  public EffectBook book() {
    return book;
  }

  @Override
  public String operationOf(Request request) {
    return request.method().equals("GET")
        ? request.query().getOrDefault("note", "")
        : parsed(request).path("note").asText("");
  }

  @Override
  public Answer perform(Request request) {
    JsonNode body = parsed(request);
    if (!body.path("amount").isNumber()) {
      return Answer.json(422, "{\"error\":{\"code\":\"amount_missing\"}}");
    }
    String reference = "tr_" + UUID.randomUUID();
    book.write(new Effect(reference, operationOf(request), null, request.body(), Instant.now()));
    return Answer.json(201, "{\"id\":\"" + reference + "\",\"status\":\"settled\"}");
  }

  @Override
  public Answer find(Request request) {
    List<Effect> found = book.effectsOf(operationOf(request));
    StringBuilder data = new StringBuilder();
    for (Effect effect : found) {
      data.append(data.isEmpty() ? "" : ",")
          .append("{\"id\":\"")
          .append(effect.reference())
          .append("\",\"status\":\"settled\"}");
    }
    return Answer.json(200, "{\"data\":[" + data + "]}");
  }

  static JsonNode parsed(Request request) {
    try {
      return JSON.readTree(request.body());
    } catch (JsonProcessingException e) {
      return JSON.missingNode();
    }
  }
}
