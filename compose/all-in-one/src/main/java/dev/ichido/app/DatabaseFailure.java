package dev.ichido.app;

import dev.ichido.cli.CommandException;
import java.sql.SQLException;

/** What a failure of the database driver means to the person who configured it. */
public final class DatabaseFailure {
  private DatabaseFailure() {}

  /**
   * Explains by SQLSTATE.
   *
   * @param path which database, by its place in the configuration
   */
  public static CommandException of(String path, SQLException e) {
    String state = e.getSQLState() == null ? "" : e.getSQLState();
    if (state.startsWith("28")) {
      return CommandException.usage(
          "DATABASE_REFUSED",
          "Expected the database to accept the user and password of "
              + path
              + ", but it refused them. Check both.",
          e);
    }
    if (state.equals("3D000")) {
      return CommandException.usage(
          "DATABASE_MISSING",
          "Expected the database that "
              + path
              + " names, but the server has none of that name."
              + " Check the url.",
          e);
    }
    if (state.startsWith("08")) {
      return CommandException.failed(
          "DATABASE_UNREACHABLE",
          "Expected a PostgreSQL that answers for "
              + path
              + ", but the connection failed ("
              + e.getMessage()
              + "). Check the url, and that the server runs.",
          e);
    }
    if (state.equals("53100")) {
      return CommandException.failed(
          "DISK_FULL",
          "Expected free space for the database of "
              + path
              + ", but its device has none left. Free some; what was committed is kept.",
          e);
    }
    return CommandException.failed(
        "DATABASE_FAILED",
        "Expected the database to do as asked, but it answered "
            + state
            + ": "
            + e.getMessage()
            + ". Check its log.",
        e);
  }
}
