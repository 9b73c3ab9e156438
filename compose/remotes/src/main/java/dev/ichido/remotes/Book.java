package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * The book of effects of one remote: a file that is only appended to and forced to the device
 * before an effect counts as done, so that it outlives its own process. What the remote remembers
 * of idempotency keys is in the same lines: an effect and the answer kept for its key are written
 * together or not at all.
 *
 * <p>A line is the CRC-32 of its JSON in eight hexadecimal digits, a space, the JSON and a line
 * feed. The last line may be torn (its writer died in it); it is dropped. Any other broken line is
 * refused.
 */
public final class Book implements AutoCloseable {
  /** An effect that is about to happen; its reference may depend on the resource's version. */
  record Draft(
      String scope,
      String businessKey,
      @Nullable String naturalKey,
      @Nullable String downstreamKey,
      LongFunction<String> reference,
      Instant at,
      String operation,
      String resource) {}

  /** An answer that is kept for a key. */
  record Kept(String scope, String key, String digest, Instant at, Answer answer) {}

  private record Lines(List<JsonNode> records, long wholeBytes, long tornBytes) {}

  private final Path file;
  private final FileChannel lockChannel;
  private final FileChannel channel;
  private final long tornBytes;
  private final ReentrantLock writing = new ReentrantLock();
  private final ReentrantLock forcing = new ReentrantLock();
  private final List<Effect> effects = new ArrayList<>();
  private final List<Kept> kept = new ArrayList<>();
  private final Map<String, Long> versions = new HashMap<>();
  private BookReading lastReading = new BookReading(List.of());
  private long written;
  private long forced;
  private boolean closed;

  private Book(Path file, FileChannel lockChannel, FileChannel channel, Lines lines) {
    this.file = file;
    this.lockChannel = lockChannel;
    this.channel = channel;
    this.tornBytes = lines.tornBytes();
    for (JsonNode line : lines.records()) {
      if (line.has("effect")) {
        add(Effect.fromJson(line.path("effect")));
      }
      if (line.has("kept")) {
        kept.add(keptFromJson(line.path("kept")));
      }
    }
  }

  /**
   * Opens the book, or begins it; this process is then the only writer.
   *
   * @param kind name of the remote's kind, which the first line of the book states
   * @throws RemoteException BOOK_UNUSABLE, BOOK_IN_USE, BOOK_CORRUPT, BOOK_OF_ANOTHER_KIND
   */
  public static Book open(Path file, String kind) {
    FileChannel lockChannel = null;
    FileChannel channel = null;
    try {
      Path folder = file.toAbsolutePath().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      // A file beside the book: closing any reader of a locked file drops this process's lock.
      lockChannel =
          FileChannel.open(
              file.resolveSibling(file.getFileName() + ".lock"),
              StandardOpenOption.CREATE,
              StandardOpenOption.WRITE);
      if (!tryLock(lockChannel)) {
        throw RemoteException.bookInUse(file);
      }
      channel =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      Lines lines = parse(file, Files.readAllBytes(file));
      channel.truncate(lines.wholeBytes());
      channel.position(lines.wholeBytes());
      Book book = new Book(file, lockChannel, channel, lines);
      if (lines.records().isEmpty()) {
        ObjectNode first = Json.object();
        first.put("book", 1);
        first.put("kind", kind);
        book.write(first);
        book.force();
      } else {
        String found = lines.records().getFirst().path("kind").asText();
        if (!found.equals(kind)) {
          throw RemoteException.anotherKind(file, kind, found);
        }
      }
      return book;
    } catch (IOException e) {
      closeQuietly(channel);
      closeQuietly(lockChannel);
      throw RemoteException.bookUnusable(file, e);
    } catch (RemoteException e) {
      closeQuietly(channel);
      closeQuietly(lockChannel);
      throw e;
    }
  }

  /**
   * Reads a book without opening it: of a process that was killed, or of one that still writes.
   *
   * @throws RemoteException BOOK_UNUSABLE, BOOK_CORRUPT
   */
  public static BookReading read(Path file) {
    try {
      List<Effect> effects = new ArrayList<>();
      for (JsonNode line : parse(file, Files.readAllBytes(file)).records()) {
        if (line.has("effect")) {
          effects.add(Effect.fromJson(line.path("effect")));
        }
      }
      return new BookReading(effects);
    } catch (IOException e) {
      throw RemoteException.bookUnusable(file, e);
    }
  }

  /** Everything that happened so far. */
  public BookReading reading() {
    writing.lock();
    try {
      if (lastReading.effects().size() != effects.size()) {
        lastReading = new BookReading(effects);
      }
      return lastReading;
    } finally {
      writing.unlock();
    }
  }

  public List<Effect> effects() {
    return reading().effects();
  }

  public Map<String, Integer> countByKey() {
    return reading().countByKey();
  }

  public Map<String, Integer> duplicates() {
    return reading().duplicates();
  }

  /** Bytes of the torn last line that were dropped when the book was opened; 0 for none. */
  public long tornBytes() {
    return tornBytes;
  }

  /**
   * Makes an effect happen.
   *
   * @param expectedVersion what the resource's version must be right before; negative: whatever
   * @param digest of the parameters, kept with the answer
   * @param keyFrom first request with the key, from which its window counts
   * @param answer called once; what is kept for the draft's key, if it has one
   * @return empty when the resource had another version; nothing happened then
   */
  Optional<Effect> append(
      Draft draft,
      long expectedVersion,
      String digest,
      Instant keyFrom,
      Function<Effect, Optional<Answer>> answer) {
    Effect effect;
    writing.lock();
    try {
      long before = version(draft.scope(), draft.resource());
      if (expectedVersion >= 0 && expectedVersion != before) {
        return Optional.empty();
      }
      long version = before + 1;
      effect =
          new Effect(
              effects.size() + 1L,
              draft.scope(),
              draft.businessKey(),
              draft.naturalKey(),
              draft.downstreamKey(),
              draft.reference().apply(version),
              draft.at(),
              draft.operation(),
              draft.resource(),
              version);
      ObjectNode line = Json.object();
      line.set("effect", effect.toJson());
      Optional<Answer> keeps = answer.apply(effect);
      String key = draft.downstreamKey();
      if (key != null && keeps.isPresent()) {
        line.set("kept", toJson(new Kept(draft.scope(), key, digest, keyFrom, keeps.get())));
      }
      write(line);
      add(effect);
    } finally {
      writing.unlock();
    }
    force();
    return Optional.of(effect);
  }

  /** Keeps an answer without an effect, as of a stored refusal. */
  void keep(Kept answer) {
    ObjectNode line = Json.object();
    line.set("kept", toJson(answer));
    write(line);
    force();
  }

  /** What was kept for keys when the book was opened, oldest first. */
  List<Kept> keptAtOpen() {
    return List.copyOf(kept);
  }

  /** How often the resource was changed. */
  long version(String scope, String resource) {
    writing.lock();
    try {
      return versions.getOrDefault(scope + "\n" + resource, 0L);
    } finally {
      writing.unlock();
    }
  }

  @Override
  public void close() {
    writing.lock();
    try {
      closed = true;
    } finally {
      writing.unlock();
    }
    forcing.lock();
    try {
      closeQuietly(channel);
      closeQuietly(lockChannel);
    } finally {
      forcing.unlock();
    }
  }

  private void add(Effect effect) {
    effects.add(effect);
    versions.put(effect.scope() + "\n" + effect.resource(), effect.version());
  }

  private void write(ObjectNode line) {
    byte[] json = Json.bytes(line);
    byte[] crc = (checksum(json, 0, json.length) + " ").getBytes(UTF_8);
    ByteBuffer buffer = ByteBuffer.allocate(crc.length + json.length + 1);
    buffer.put(crc).put(json).put((byte) '\n').flip();
    writing.lock();
    try {
      if (closed) {
        throw RemoteException.closed();
      }
      int length = buffer.remaining();
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      written += length;
    } catch (IOException e) {
      throw RemoteException.bookUnusable(file, e);
    } finally {
      writing.unlock();
    }
  }

  /** Returns when what was written before is on the device; writers share one force. */
  private void force() {
    long mine;
    writing.lock();
    try {
      mine = written;
    } finally {
      writing.unlock();
    }
    forcing.lock();
    try {
      if (forced >= mine) {
        return;
      }
      writing.lock();
      try {
        mine = written;
      } finally {
        writing.unlock();
      }
      channel.force(false);
      forced = mine;
    } catch (IOException e) {
      throw RemoteException.bookUnusable(file, e);
    } finally {
      forcing.unlock();
    }
  }

  private static Lines parse(Path file, byte[] bytes) {
    List<JsonNode> records = new ArrayList<>();
    int start = 0;
    while (start < bytes.length) {
      int end = start;
      while (end < bytes.length && bytes[end] != '\n') {
        end++;
      }
      if (end == bytes.length) {
        break;
      }
      Optional<JsonNode> line = parseLine(bytes, start, end);
      if (line.isEmpty()) {
        if (end + 1 < bytes.length) {
          throw RemoteException.bookCorrupt(file, records.size() + 1L);
        }
        break;
      }
      records.add(line.get());
      start = end + 1;
    }
    return new Lines(records, start, bytes.length - start);
  }

  private static Optional<JsonNode> parseLine(byte[] bytes, int start, int end) {
    int json = start + 9;
    if (json > end
        || !new String(bytes, start, 8, UTF_8).equals(checksum(bytes, json, end - json))) {
      return Optional.empty();
    }
    return Optional.of(Json.parse(Arrays.copyOfRange(bytes, json, end)));
  }

  private static String checksum(byte[] bytes, int start, int length) {
    CRC32 crc = new CRC32();
    crc.update(bytes, start, length);
    return "%08x".formatted(crc.getValue());
  }

  private static ObjectNode toJson(Kept kept) {
    ObjectNode json = Json.object();
    json.put("scope", kept.scope());
    json.put("key", kept.key());
    json.put("digest", kept.digest());
    json.put("at", kept.at().toString());
    json.set("answer", kept.answer().toJson());
    return json;
  }

  private static Kept keptFromJson(JsonNode json) {
    return new Kept(
        json.path("scope").asText(),
        json.path("key").asText(),
        json.path("digest").asText(),
        Instant.parse(json.path("at").asText()),
        Answer.fromJson(json.path("answer")));
  }

  private static boolean tryLock(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  private static void closeQuietly(@Nullable FileChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // Nothing that was forced is lost by it.
      }
    }
  }
}
