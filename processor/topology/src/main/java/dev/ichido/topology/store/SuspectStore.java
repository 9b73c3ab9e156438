package dev.ichido.topology.store;

import dev.ichido.operation.OperationKey;
import dev.ichido.operation.fingerprint.Fingerprint;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * Which operations carry one meaning: by tenant, action and fingerprint. An operation leaves the
 * index when its result is no longer kept, so the index is no larger than the ledger.
 */
public final class SuspectStore {
  /** Twins that are told apart for one meaning; of more the latest are kept. */
  private static final int MOST = 32;

  private static final int VERSION = 1;

  private final KeyValueStore<String, byte[]> store;

  /** {@code settledAt} is null while the operation is open. */
  private record Twin(String operationId, @Nullable Instant settledAt) {}

  public SuspectStore(KeyValueStore<String, byte[]> store) {
    this.store = store;
  }

  /** The key under which a meaning is kept; also the key of messages about it. */
  public static String key(String tenant, String action, Fingerprint fingerprint) {
    return new OperationKey(tenant, action, fingerprint.version() + ":" + fingerprint.digest())
        .recordKey();
  }

  /**
   * Another operation of this meaning that is open, or was settled within the window. Where there
   * is none, this one is kept as open unless it is known: asked for again, a settled one stays
   * settled.
   */
  public Optional<String> findTwinOrOpen(
      String key, String operationId, Duration window, Instant at) {
    List<Twin> twins = twins(key);
    Optional<String> twin = findTwin(twins, operationId, window, at);
    if (twin.isEmpty() && !isIn(twins, operationId)) {
      put(key, twins, new Twin(operationId, null));
    }
    return twin;
  }

  private static boolean isIn(List<Twin> twins, String operationId) {
    return twins.stream().anyMatch(it -> it.operationId().equals(operationId));
  }

  private static Optional<String> findTwin(
      List<Twin> twins, String operationId, Duration window, Instant at) {
    return twins.stream()
        .filter(it -> !it.operationId().equals(operationId))
        .filter(it -> it.settledAt() == null || at.isBefore(it.settledAt().plus(window)))
        .map(Twin::operationId)
        .findFirst();
  }

  /**
   * Keeps it as open.
   *
   * @return its twin as {@link #findTwinOrOpen} tells, if it was not known yet
   */
  public Optional<String> open(String key, String operationId, Duration window, Instant at) {
    List<Twin> twins = twins(key);
    Optional<String> twin =
        isIn(twins, operationId) ? Optional.empty() : findTwin(twins, operationId, window, at);
    put(key, twins, new Twin(operationId, null));
    return twin;
  }

  public void settle(String key, String operationId, Instant at) {
    put(key, twins(key), new Twin(operationId, at));
  }

  public void remove(String key, String operationId) {
    List<Twin> twins = twins(key);
    if (twins.removeIf(it -> it.operationId().equals(operationId))) {
      write(key, twins);
    }
  }

  private void put(String key, List<Twin> twins, Twin twin) {
    int known = -1;
    for (int i = 0; i < twins.size(); i++) {
      if (twins.get(i).operationId().equals(twin.operationId())) {
        known = i;
      }
    }
    if (known < 0) {
      twins.add(twin);
    } else if (twins.get(known).equals(twin)) {
      return;
    } else {
      twins.set(known, twin);
    }
    write(key, twins.subList(Math.max(0, twins.size() - MOST), twins.size()));
  }

  private void write(String key, List<Twin> twins) {
    if (twins.isEmpty()) {
      store.put(key, null);
      return;
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      FieldWriter fields = new FieldWriter(out);
      fields.number(twins.size());
      for (Twin twin : twins) {
        fields.text(twin.operationId());
        fields.optionalInstant(twin.settledAt());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    store.put(key, bytes.toByteArray());
  }

  private List<Twin> twins(String key) {
    List<Twin> twins = new ArrayList<>();
    byte[] bytes = store.get(key);
    if (bytes == null) {
      return twins;
    }
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw StoredOperationSerde.unreadable("suspects of version " + version, null);
      }
      FieldReader fields = new FieldReader(in, version);
      for (int left = fields.number(); left > 0; left--) {
        twins.add(new Twin(fields.text(), fields.optionalInstant()));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return twins;
  }
}
