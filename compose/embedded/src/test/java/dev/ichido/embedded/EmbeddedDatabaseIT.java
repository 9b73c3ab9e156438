package dev.ichido.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedDatabaseIT {
  @TempDir Path temp;

  @Test
  void itIsDurableAndClosedToStrangersAndKeepsItsRows() throws Exception {
    Path folder = temp.resolve("with blank");
    String password;
    try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
      password = database.password();
      assertThat(show(database, "fsync")).isEqualTo("on");
      assertThat(show(database, "synchronous_commit")).isEqualTo("on");
      assertThat(show(database, "wal_level")).isEqualTo("logical");
      assertThat(show(database, "server_version_num")).startsWith("18");
      assertThat(show(database, "max_slot_wal_keep_size")).isEqualTo("4GB");
      assertThat(show(database, "listen_addresses")).isEqualTo("127.0.0.1");
      execute(database, "create table kept (n int)");
      execute(database, "insert into kept values (7)");
      assertThatThrownBy(() -> connect(database, "guess"))
          .isInstanceOf(SQLException.class)
          .hasMessageContaining("password authentication failed");
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(folder.resolve("password"))))
          .isEqualTo("rw-------");
    }
    try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
      assertThat(database.password()).isEqualTo(password);
      assertThat(query(database, "select n from kept")).isEqualTo("7");
    }
  }

  @Test
  void aServerLeftBehindIsStoppedAndItsRowsAreKept() throws Exception {
    Path folder = temp.resolve("pg");
    Process killed =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                KilledOwner.class.getName(),
                folder.toString())
            .inheritIO()
            .start();
    assertThat(killed.waitFor(120, TimeUnit.SECONDS)).isTrue();
    assertThat(killed.exitValue()).isEqualTo(137);
    long pid =
        Long.parseLong(Files.readAllLines(folder.resolve("cluster/postmaster.pid")).getFirst());
    assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isPresent();
    try (EmbeddedDatabase next = EmbeddedDatabase.start(folder)) {
      assertThat(next.pid().orElseThrow()).isNotEqualTo(pid);
      assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
      assertThat(query(next, "select n from kept")).isEqualTo("1");
    }
  }

  @Test
  void aProcessIdThatAnotherProgramGotSinceIsNotTouched() throws Exception {
    Path folder = temp.resolve("pg");
    EmbeddedDatabase.start(folder).close();
    Process bystander = new ProcessBuilder("sleep", "600").start();
    try {
      Files.writeString(
          folder.resolve("cluster/postmaster.pid"),
          bystander.pid() + "\n" + folder.resolve("cluster") + "\n0\n1\n");
      try (EmbeddedDatabase database = EmbeddedDatabase.start(folder)) {
        assertThat(query(database, "select 1")).isEqualTo("1");
      }
      assertThat(bystander.isAlive()).isTrue();
    } finally {
      bystander.destroy();
      bystander.waitFor(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void aClusterThatWasNeverFinishedIsMadeAgain() throws Exception {
    Path cluster = Files.createDirectories(temp.resolve("pg/cluster/base"));
    Files.writeString(cluster.resolveSibling("postgresql.conf"), "# killed here\n");
    try (EmbeddedDatabase database = EmbeddedDatabase.start(temp.resolve("pg"))) {
      assertThat(query(database, "select 1")).isEqualTo("1");
    }
  }

  @Test
  void aBadSettingIsReportedWithTheServersOwnWords() {
    assertThatThrownBy(
            () -> EmbeddedDatabase.start(temp.resolve("pg"), 0, Map.of("wal_level", "sideways")))
        .isInstanceOfSatisfying(
            EmbeddedServerException.class,
            e -> assertThat(e.code()).isEqualTo(EmbeddedServerException.Code.DATABASE_FAILED))
        .hasMessageContaining("wal_level")
        .hasMessageContaining("postgres.log");
  }

  @Test
  void aTakenPortIsRefused() throws IOException {
    try (EmbeddedDatabase first = EmbeddedDatabase.start(temp.resolve("a"))) {
      assertThatThrownBy(() -> EmbeddedDatabase.start(temp.resolve("b"), first.port(), Map.of()))
          .isInstanceOfSatisfying(
              EmbeddedServerException.class,
              e -> assertThat(e.code()).isEqualTo(EmbeddedServerException.Code.PORT_IN_USE));
    }
  }

  private static Connection connect(EmbeddedDatabase database, String password)
      throws SQLException {
    return DriverManager.getConnection(database.url(), database.user(), password);
  }

  private static String show(EmbeddedDatabase database, String setting) throws SQLException {
    return query(database, "show " + setting);
  }

  private static String query(EmbeddedDatabase database, String sql) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      assertThat(rows.next()).isTrue();
      return rows.getString(1);
    }
  }

  private static void execute(EmbeddedDatabase database, String sql) throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
