package dev.ichido.faults;

import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;

/**
 * What the audits of all relays found, in all their lives. A process takes its count with it, so
 * that is read at the last moment.
 */
final class Audits {
  private static final String MISSING = "ichido_relay_audit_missing";

  private final HttpClient http;
  private final List<Rig.Instance> relays = new ArrayList<>();
  private final List<String> unread = new ArrayList<>();
  private double ended;

  Audits(HttpClient http) {
    this.http = http;
  }

  void watch(Rig.Instance relay) {
    relays.add(relay);
    relay.jvm().beforeEnd(() -> ended += read(relay));
  }

  /** Rows that had been passed over. */
  double found() {
    double running = 0;
    for (Rig.Instance relay : relays) {
      if (relay.jvm().isAlive()) {
        running += read(relay);
      }
    }
    return ended + running;
  }

  /** The relays that did not tell since this was asked last. */
  List<String> takeUnread() {
    List<String> taken = List.copyOf(unread);
    unread.clear();
    return taken;
  }

  private double read(Rig.Instance relay) {
    try {
      return relay.meter(http, MISSING, "");
    } catch (ConnectException notUpYet) {
      return 0;
    } catch (IOException silent) {
      unread.add(relay.jvm().name());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return 0;
  }
}
