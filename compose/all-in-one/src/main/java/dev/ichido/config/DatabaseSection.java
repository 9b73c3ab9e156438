package dev.ichido.config;

import org.jspecify.annotations.Nullable;
import org.postgresql.Driver;

/**
 * One PostgreSQL database.
 *
 * @param url {@code jdbc:postgresql://host:port/name}, TLS settings as its parameters
 */
public record DatabaseSection(
    @Nullable String url, @Nullable String user, @Nullable String password) {
  public static final DatabaseSection NONE = new DatabaseSection(null, null, null);

  public DatabaseSection {
    requireReadable(url);
  }

  /**
   * @throws IllegalArgumentException for a url of another form, without it: it may hold a password
   */
  static void requireReadable(@Nullable String url) {
    if (url != null && Driver.parseURL(url, null) == null) {
      throw new IllegalArgumentException(
          "Expected a url such as jdbc:postgresql://host:5432/name, but it has another form. Check"
              + " its spelling.");
    }
  }

  @Override
  public String toString() {
    return "DatabaseSection[" + url + " " + user + "]";
  }
}
