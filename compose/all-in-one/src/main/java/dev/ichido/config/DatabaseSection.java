package dev.ichido.config;

import org.jspecify.annotations.Nullable;

/**
 * One PostgreSQL database.
 *
 * @param url {@code jdbc:postgresql://host:port/name}, TLS settings as its parameters
 */
public record DatabaseSection(
    @Nullable String url, @Nullable String user, @Nullable String password) {
  public static final DatabaseSection NONE = new DatabaseSection(null, null, null);

  @Override
  public String toString() {
    return "DatabaseSection[" + url + " " + user + "]";
  }
}
