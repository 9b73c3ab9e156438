package dev.ichido.bench;

import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A way to carry operations out once. */
interface OncePath extends AutoCloseable {
  /**
   * Returns when the request is durable; the future gives the last verdict on it.
   *
   * @throws SQLException when it was not taken
   */
  CompletableFuture<String> call(Call call) throws SQLException;

  /** Processes to be charged beside this one. */
  Iterable<Long> servers();

  /** Processor time of its parts until now; empty where it is not told apart. */
  default Optional<Parts> parts() throws SQLException {
    return Optional.empty();
  }

  @Override
  void close();
}
