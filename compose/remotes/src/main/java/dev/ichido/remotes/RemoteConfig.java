package dev.ichido.remotes;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;

/**
 * How a stand-in is run.
 *
 * @param port on 127.0.0.1; 0 for a free one
 * @param book file of its effects
 * @param businessKey where a request says what it is for, for the book alone; a request that does
 *     not say counts under its natural key, and is refused when it has none either
 * @param naturalKey where a request says what the remote itself can be asked for
 * @param window how long a key protects, from its first request
 * @param clock time of the remote
 */
public record RemoteConfig(
    RemoteKind kind,
    int port,
    Path book,
    KeySource businessKey,
    KeySource naturalKey,
    Duration window,
    Clock clock) {

  /**
   * On a free port: the business key in the header {@code X-Business-Key}, the natural key in the
   * body's {@code /natural_key}, the kind's window, and the system's time.
   */
  public static RemoteConfig of(RemoteKind kind, Path book) {
    return new RemoteConfig(
        kind,
        0,
        book,
        KeySource.header("X-Business-Key"),
        KeySource.body("/natural_key"),
        kind.defaultWindow(),
        Clock.systemUTC());
  }

  public RemoteConfig withPort(int newPort) {
    return new RemoteConfig(kind, newPort, book, businessKey, naturalKey, window, clock);
  }

  public RemoteConfig withBusinessKey(KeySource source) {
    return new RemoteConfig(kind, port, book, source, naturalKey, window, clock);
  }

  public RemoteConfig withNaturalKey(KeySource source) {
    return new RemoteConfig(kind, port, book, businessKey, source, window, clock);
  }

  public RemoteConfig withWindow(Duration newWindow) {
    return new RemoteConfig(kind, port, book, businessKey, naturalKey, newWindow, clock);
  }

  public RemoteConfig withClock(Clock newClock) {
    return new RemoteConfig(kind, port, book, businessKey, naturalKey, window, newClock);
  }
}
