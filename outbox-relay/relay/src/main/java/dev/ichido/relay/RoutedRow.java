package dev.ichido.relay;

import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.ToolIntent;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What becomes of one change of the log. */
sealed interface RoutedRow {
  /** A row that is an intent. */
  record Intent(String recordKey, ToolIntent value, @Nullable String traceparent, Row row)
      implements RoutedRow {}

  /** A row that can't be made into one. */
  record Refused(String recordKey, DeadLetter value, Row row) implements RoutedRow {}

  /** Not a row of the outbox: it only moves the position. */
  record Nothing() implements RoutedRow {}

  /**
   * The row as the log or the table shows it.
   *
   * @param transaction id of the transaction that wrote it
   * @param committedAt milliseconds since 1970
   */
  record Row(
      String recordKey,
      String delivery,
      long transaction,
      Map<String, @Nullable Object> columns,
      long lsn,
      long committedAt) {}
}
