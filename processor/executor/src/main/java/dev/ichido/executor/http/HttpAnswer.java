package dev.ichido.executor.http;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.executor.CallFacts;
import dev.ichido.executor.http.HttpContract.AnswerRule;
import java.io.IOException;
import java.net.http.HttpHeaders;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A complete answer of a remote. */
final class HttpAnswer {
  private final int status;
  private final HttpHeaders headers;
  private final byte[] body;
  private @Nullable JsonNode parsed;

  HttpAnswer(int status, HttpHeaders headers, byte[] body) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  int status() {
    return status;
  }

  byte[] body() {
    return body;
  }

  /** The first rule that fits. */
  Optional<AnswerRule> findRule(Iterable<AnswerRule> rules) {
    for (AnswerRule rule : rules) {
      if (fits(rule)) {
        return Optional.of(rule);
      }
    }
    return Optional.empty();
  }

  private boolean fits(AnswerRule rule) {
    if (!rule.statuses().contains(status)) {
      return false;
    }
    if (rule.path() != null) {
      return rule.values().isEmpty()
          ? find(rule.path()).isPresent()
          : findValue(rule.path()).filter(rule.values()::contains).isPresent();
    }
    return rule.header() == null
        || headers
            .firstValue(rule.header())
            .filter(value -> rule.values().isEmpty() || rule.values().contains(value))
            .isPresent();
  }

  /** The text of a text, number or truth value, whichever it is. */
  Optional<String> findValue(AnswerPath path) {
    return path.find(json())
        .filter(node -> node.isValueNode() && !node.isNull())
        .map(JsonNode::asText);
  }

  /** The member, neither null, false nor empty. */
  Optional<JsonNode> find(AnswerPath path) {
    return path.find(json()).filter(HttpAnswer::isThere);
  }

  private static boolean isThere(JsonNode node) {
    if (node.isMissingNode() || node.isNull()) {
      return false;
    }
    if (node.isBoolean()) {
      return node.booleanValue();
    }
    if (node.isTextual()) {
      return !node.textValue().isEmpty();
    }
    return node.isNumber() || node.size() > 0;
  }

  boolean isJson() {
    return !json().isMissingNode();
  }

  /** A text or number that names something, without what a database can't keep. */
  @Nullable String findReference(@Nullable AnswerPath path, @Nullable String header) {
    if (header != null) {
      return headers.firstValue(header).filter(value -> !value.isBlank()).orElse(null);
    }
    return path == null
        ? null
        : path.find(json())
            .filter(node -> node.isTextual() || node.isNumber())
            .map(node -> node.asText().replace('\0', '\uFFFD'))
            .filter(text -> !text.isBlank())
            .orElse(null);
  }

  private JsonNode json() {
    JsonNode node = parsed;
    if (node == null) {
      try {
        node = Json.EXACT.readTree(body);
      } catch (IOException e) {
        node = Json.EXACT.missingNode();
      }
      parsed = node;
    }
    return node;
  }

  /** Retry-After in either form, at most a day. */
  @Nullable Duration findRetryAfter(Instant now) {
    Optional<String> header = headers.firstValue("Retry-After");
    if (header.isEmpty()) {
      return null;
    }
    String text = header.get().strip();
    try {
      long seconds =
          text.chars().allMatch(c -> c >= '0' && c <= '9') && !text.isEmpty()
              ? Long.parseLong(text.length() > 10 ? "9999999999" : text)
              : Duration.between(
                      now,
                      ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant())
                  .toSeconds();
      return Duration.ofSeconds(Math.clamp(seconds, 0L, CallFacts.LONGEST_RETRY_AFTER.toSeconds()));
    } catch (DateTimeException | ArithmeticException e) {
      return null;
    }
  }
}
