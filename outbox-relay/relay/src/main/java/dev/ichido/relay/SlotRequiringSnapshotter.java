package dev.ichido.relay;

import io.debezium.snapshot.mode.NoDataSnapshotter;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Debezium's {@code no_data}, but without the creation of a missing slot: a new slot begins at
 * "now" and skips in silence what was written since the old one went. Debezium reads the slot's
 * state, then asks here whether to stream, and only then creates what it found missing; so a slot
 * that is there now was there when it looked.
 */
public final class SlotRequiringSnapshotter extends NoDataSnapshotter {
  static final String NAME = "ichido_slot_required";

  /**
   * The URL's settings may hold a password; Debezium hides the values of names that end like this.
   */
  static final String URL = "ichido.outbox.url.password";

  private @Nullable OutboxDatabase database;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void configure(Map<String, ?> properties) {
    super.configure(properties);
    database =
        new OutboxDatabase(
            text(properties, URL),
            text(properties, "database.user"),
            text(properties, "database.password"),
            text(properties, "slot.name"),
            text(properties, "publication.name"));
  }

  @Override
  public boolean shouldStream() {
    if (database == null) {
      throw new IllegalStateException(
          "Expected configure() before shouldStream(), but it was not called.");
    }
    OutboxSource source = new OutboxSource(database, Duration.ofSeconds(10));
    try (Connection connection = source.connect()) {
      if (source.findSlot(connection).isEmpty()) {
        throw source.slotMissing();
      }
    } catch (SQLException e) {
      throw source.named(e);
    }
    return super.shouldStream();
  }

  private static String text(Map<String, ?> properties, String key) {
    return String.valueOf(properties.get(key));
  }
}
