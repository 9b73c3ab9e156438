package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/**
 * Development tokens: a file with one caller a line, {@code TOKEN TENANT PRINCIPAL}, blanks
 * between. Lines that are empty or begin with # are left out. Tokens have 32 characters or more.
 */
final class Tokens {
  private static final int SHORTEST = 32;

  /** By digest, so that the time of a look-up tells nothing about a token. */
  private final Map<String, Caller> callers;

  private Tokens(Map<String, Caller> callers) {
    this.callers = Map.copyOf(callers);
  }

  static Tokens none() {
    return new Tokens(Map.of());
  }

  /**
   * Reads a file.
   *
   * @throws GatewayException TOKENS_UNREADABLE
   */
  static Tokens read(Path file) {
    Map<String, Caller> callers = new HashMap<>();
    try {
      int number = 0;
      for (String line : Files.readAllLines(file, UTF_8)) {
        number++;
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        String[] words = line.strip().split("\\s+", 3);
        if (words.length != 3 || words[0].length() < SHORTEST) {
          throw GatewayException.of(
              "TOKENS_UNREADABLE",
              "Expected a token of "
                  + SHORTEST
                  + " characters or more, a tenant and a principal in line "
                  + number
                  + " of "
                  + file
                  + ", but there is something else. Check the line.",
              null);
        }
        callers.put(digest(words[0]), new Caller(words[1], words[2]));
      }
    } catch (IOException e) {
      throw GatewayException.of(
          "TOKENS_UNREADABLE",
          "Expected a file of tokens at " + file + ", but it can't be read. Check gateway.tokens.",
          e);
    }
    return new Tokens(callers);
  }

  Optional<Caller> find(String token) {
    return Optional.ofNullable(callers.get(digest(token)));
  }

  private static String digest(String token) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
