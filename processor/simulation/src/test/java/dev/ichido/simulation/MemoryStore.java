package dev.ichido.simulation;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.jspecify.annotations.Nullable;

/** A store of a task, in the bytes in which the shipped one is kept. */
final class MemoryStore<K, V> implements KeyValueStore<K, V> {
  private final String name;
  private final Serde<K> keys;
  private final Serde<V> values;
  private final NavigableMap<Bytes, byte[]> entries;

  MemoryStore(String name, Serde<K> keys, Serde<V> values, NavigableMap<Bytes, byte[]> entries) {
    this.name = name;
    this.keys = keys;
    this.values = values;
    this.entries = entries;
  }

  /** What its changelog holds. */
  NavigableMap<Bytes, byte[]> entries() {
    return new TreeMap<>(entries);
  }

  private Bytes bytes(K key) {
    return Bytes.wrap(keys.serializer().serialize(name, key));
  }

  private V value(byte[] bytes) {
    return values.deserializer().deserialize(name, bytes);
  }

  @Override
  public @Nullable V get(K key) {
    byte[] bytes = entries.get(bytes(key));
    return bytes == null ? null : value(bytes);
  }

  @Override
  public void put(K key, @Nullable V value) {
    if (value == null) {
      entries.remove(bytes(key));
    } else {
      entries.put(bytes(key), values.serializer().serialize(name, value));
    }
  }

  @Override
  public @Nullable V delete(K key) {
    byte[] bytes = entries.remove(bytes(key));
    return bytes == null ? null : value(bytes);
  }

  @Override
  public KeyValueIterator<K, V> range(K from, K to) {
    return iterator(entries.subMap(bytes(from), true, bytes(to), true));
  }

  @Override
  public KeyValueIterator<K, V> all() {
    return iterator(entries);
  }

  private KeyValueIterator<K, V> iterator(Map<Bytes, byte[]> some) {
    List<KeyValue<K, V>> found = new ArrayList<>();
    some.forEach(
        (key, value) ->
            found.add(
                KeyValue.pair(keys.deserializer().deserialize(name, key.get()), value(value))));
    Iterator<KeyValue<K, V>> entriesFound = found.iterator();
    return new KeyValueIterator<>() {
      @Override
      public boolean hasNext() {
        return entriesFound.hasNext();
      }

      @Override
      public KeyValue<K, V> next() {
        return entriesFound.next();
      }

      @Override
      public K peekNextKey() {
        throw new UnsupportedOperationException("The topology does not look ahead.");
      }

      @Override
      public void close() {
        // Nothing is held.
      }
    };
  }

  @Override
  public V putIfAbsent(K key, V value) {
    throw new UnsupportedOperationException("The topology does not put if absent.");
  }

  @Override
  public void putAll(List<KeyValue<K, V>> some) {
    some.forEach(it -> put(it.key, it.value));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void init(StateStoreContext context, StateStore root) {
    // It is ready as it is.
  }

  @Override
  public void close() {
    // Nothing is held.
  }

  @Override
  public boolean persistent() {
    return false;
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public long approximateNumEntries() {
    return entries.size();
  }
}
