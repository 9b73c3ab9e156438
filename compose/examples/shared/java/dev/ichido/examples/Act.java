package dev.ichido.examples;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** How a tool acts: straight at the remote, or once, through Ichido. Copy {@link #once} into your agent. */
@FunctionalInterface
public interface Act {
  HttpClient HTTP = HttpClient.newHttpClient();

  /**
   * Carries an action out.
   *
   * @param key what stays the same over every retry
   * @param arguments a JSON document
   * @return what the model is told
   */
  String call(String action, String key, String arguments);

  /** Every call is a new effect: the remote cannot tell a retry from a second order. */
  static String direct(String action, String key, String arguments) {
    return send(
            HttpRequest.newBuilder(URI.create(System.getenv("REMOTE_URL") + "/" + action))
                .POST(BodyPublishers.ofString(arguments))
                .build())
        .body();
  }

  /**
   * The same key is the same effect, however often and from wherever it is asked for. When the
   * connection breaks this throws, and nothing is lost: whoever runs the tool again comes with the
   * same key.
   */
  static String once(String action, String key, String arguments) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(System.getenv("ICHIDO_URL") + "/v1/actions/" + action))
            .header("Authorization", "Bearer " + System.getenv("ICHIDO_TOKEN"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", '"' + key + '"')
            .header("Prefer", "wait=60")
            .POST(BodyPublishers.ofString(arguments))
            .build();
    while (true) {
      HttpResponse<String> answer = send(request);
      Optional<String> pause = answer.headers().firstValue("Retry-After");
      // Only who is asked to may send again. What is unknown or refused is the model's to read.
      if (pause.isEmpty()) {
        return answer.body();
      }
      pause(Long.parseLong(pause.get()));
    }
  }

  /** One key of parts that stay the same: never of a clock, a random number or the attempt. */
  static String keyOf(String... parts) {
    Pattern other = Pattern.compile("[^A-Za-z0-9_.-]");
    return Arrays.stream(parts)
        .map(part -> other.matcher(part).replaceAll(c -> "~%x~".formatted(c.group().codePointAt(0))))
        .collect(Collectors.joining(":"));
  }

  private static HttpResponse<String> send(HttpRequest request) {
    try {
      return HTTP.send(request, BodyHandlers.ofString());
    } catch (IOException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static void pause(long seconds) {
    try {
      Thread.sleep(1_000 * seconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
