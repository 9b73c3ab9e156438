package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.ichido.embedded.EmbeddedDatabase;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * What people write by hand: insert a key (committed), call, keep the answer (committed). It has no
 * answer to a crash between the call and the second commit, and knows nothing of late replays. Its
 * own database and the cheapest HTTP client there can be: the strictest base line.
 */
final class PlainTable implements OncePath {
  private static final int THREADS = 64;
  private static final int CONNECTIONS = 32;

  private final EmbeddedDatabase database;
  private final int sinkPort;
  private final HikariDataSource connections;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
  private final Queue<Socket> idle = new ConcurrentLinkedQueue<>();

  PlainTable(EmbeddedDatabase database, int sinkPort) throws SQLException {
    this.database = database;
    this.sinkPort = sinkPort;
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(database.url() + "?prepareThreshold=1");
    pool.setUsername(database.user());
    pool.setPassword(database.password());
    pool.setMaximumPoolSize(CONNECTIONS);
    this.connections = new HikariDataSource(pool);
    try (Connection connection = connections.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "create table plain_operation (key text primary key, digest text not null, request text"
              + " not null, state text not null, locked_at timestamptz, result text)");
    }
  }

  @Override
  public CompletableFuture<String> call(Call call) {
    CompletableFuture<String> verdict = new CompletableFuture<>();
    threads.execute(
        () -> {
          try {
            verdict.complete(run(call));
          } catch (SQLException | RuntimeException e) {
            verdict.completeExceptionally(e);
          }
        });
    return verdict;
  }

  private String run(Call call) throws SQLException {
    String key = call.tenant() + "/" + call.operationId();
    String digest = Integer.toHexString(call.arguments().hashCode());
    if (update(
            "insert into plain_operation (key, digest, request, state, locked_at) values (?, ?, ?,"
                + " 'IN_PROGRESS', now()) on conflict (key) do nothing",
            key,
            digest,
            call.arguments())
        == 0) {
      return known(key, digest);
    }
    String result = effect(call);
    update("update plain_operation set state = 'SUCCEEDED', result = ? where key = ?", result, key);
    // It does not tell an old request from a new one.
    return call.kind() == Call.Kind.LATE ? "LATE_REPLAY" : "SETTLED";
  }

  /** A duplicate of one that still runs asks again, as its caller would. */
  private String known(String key, String digest) throws SQLException {
    while (true) {
      try (Connection connection = connections.getConnection();
          PreparedStatement statement =
              connection.prepareStatement(
                  "select digest, state, result from plain_operation where key = ?")) {
        statement.setString(1, key);
        try (ResultSet row = statement.executeQuery()) {
          row.next();
          if (!row.getString(1).equals(digest)) {
            return "FINGERPRINT_MISMATCH";
          }
          if (row.getString(2).equals("SUCCEEDED") && row.getString(3) != null) {
            return "REPLAYED";
          }
        }
      }
    }
  }

  private int update(String sql, String... values) throws SQLException {
    try (Connection connection = connections.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setString(i + 1, values[i]);
      }
      return statement.executeUpdate();
    }
  }

  private String effect(Call call) {
    Socket socket = idle.poll();
    try {
      if (socket == null) {
        socket = new Socket(InetAddress.getLoopbackAddress(), sinkPort);
        socket.setTcpNoDelay(true);
      }
      byte[] body = call.arguments().getBytes(UTF_8);
      byte[] head =
          ("POST /effects/"
                  + call.operationId()
                  + " HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: "
                  + body.length
                  + "\r\n\r\n")
              .getBytes(UTF_8);
      byte[] request = new byte[head.length + body.length];
      System.arraycopy(head, 0, request, 0, head.length);
      System.arraycopy(body, 0, request, head.length, body.length);
      OutputStream out = socket.getOutputStream();
      out.write(request);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      int length = 0;
      for (String line = Sink.line(in); !"".equals(line); line = Sink.line(in)) {
        if (line == null) {
          throw new EOFException("Expected an answer, but the remote closed the connection.");
        }
        if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
          length = Integer.parseInt(line.substring(15).strip());
        }
      }
      String answer = new String(in.readNBytes(length), UTF_8);
      idle.add(socket);
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Iterable<Long> servers() {
    return List.copyOf(database.pid().stream().toList());
  }

  @Override
  public void close() {
    threads.shutdownNow();
    for (Socket socket = idle.poll(); socket != null; socket = idle.poll()) {
      try {
        socket.close();
      } catch (IOException gone) {
        // It is gone, as wished.
      }
    }
    connections.close();
  }
}
