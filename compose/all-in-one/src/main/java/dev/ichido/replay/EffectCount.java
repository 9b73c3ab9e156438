package dev.ichido.replay;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.cli.CommandException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** How many effects there are, by one who knows. */
public interface EffectCount {
  /** The word of the report. */
  String source();

  /**
   * All effects, or those of some commands where the source tells them apart.
   *
   * @param commandIds commands that may have had an effect
   */
  long count(Collection<String> commandIds) throws SQLException, InterruptedException;

  /**
   * The remote's own book: a URL that answers {@code {"count": N}}, or a file with one line for
   * each effect. It counts what others do meanwhile too.
   */
  static EffectCount book(String place) {
    return new EffectCount() {
      @Override
      public String source() {
        return "book";
      }

      @Override
      public long count(Collection<String> commandIds) throws InterruptedException {
        try {
          return place.startsWith("http://") || place.startsWith("https://")
              ? ask(URI.create(place))
              : lines(Path.of(place));
        } catch (IOException | IllegalArgumentException e) {
          throw CommandException.failed(
              "BOOK_UNREADABLE",
              "Expected the remote's book at --book, but it can't be read ("
                  + e.getClass().getSimpleName()
                  + "). Check that it is a URL that answers {\"count\": N}, or a file with a line"
                  + " for each effect.",
              e);
        }
      }
    };
  }

  /** Attempts that were let through to a remote, by the executor's claims. */
  static EffectCount claims(DataSource database) {
    return new EffectCount() {
      @Override
      public String source() {
        return "claims";
      }

      @Override
      public long count(Collection<String> commandIds) throws SQLException {
        try (Connection connection = database.getConnection();
            PreparedStatement select =
                connection.prepareStatement(
                    "select count(*) from ichido.claim where kind = 'CLAIM' and command_id ="
                        + " any (?)")) {
          select.setArray(1, connection.createArrayOf("text", commandIds.toArray()));
          try (ResultSet row = select.executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
          }
        }
      }
    };
  }

  private static long ask(URI book) throws IOException, InterruptedException {
    try (HttpClient client =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build()) {
      HttpResponse<String> answer =
          client.send(
              HttpRequest.newBuilder(book).timeout(Duration.ofSeconds(20)).build(),
              BodyHandlers.ofString(UTF_8));
      JsonNode count = new JsonMapper().readTree(answer.body()).path("count");
      if (answer.statusCode() != 200 || !count.isIntegralNumber()) {
        throw new IOException("no count");
      }
      return count.asLong();
    }
  }

  private static long lines(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, UTF_8)) {
      return lines.count();
    }
  }
}
