package dev.ichido.faults;

import dev.ichido.inbox.InboxException;
import dev.ichido.inbox.InboxReader;
import dev.ichido.inbox.InboxReply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** What the agent runtime was told so far, by delivery. */
final class Replies {
  private static final int PAGE = 5_000;

  private final InboxReader inbox;
  private final Map<String, List<InboxReply>> byDelivery = new HashMap<>();
  private long cursor;

  Replies(DataSource database) {
    this.inbox = new InboxReader(database);
  }

  /** Reads what is new; nothing while the database is away. */
  synchronized void refresh() {
    try {
      List<InboxReply> page;
      do {
        page = inbox.listAfter(cursor, PAGE);
        for (InboxReply reply : page) {
          byDelivery.computeIfAbsent(reply.deliveryId(), none -> new ArrayList<>()).add(reply);
          cursor = reply.seq();
        }
      } while (page.size() == PAGE);
    } catch (InboxException away) {
      // The next look finds it.
    }
  }

  synchronized List<InboxReply> to(String deliveryId) {
    return List.copyOf(byDelivery.getOrDefault(deliveryId, List.of()));
  }

  synchronized boolean isAnswered(String deliveryId) {
    return byDelivery.getOrDefault(deliveryId, List.of()).stream().anyMatch(InboxReply::isFinal);
  }
}
