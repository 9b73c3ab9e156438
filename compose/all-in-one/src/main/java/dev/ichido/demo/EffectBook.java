package dev.ichido.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The remote's own list of what it did: one line an effect, forced to the disk before the effect is
 * answered, so that it is right after a kill too. It removes no duplicates: whatever reaches the
 * remote twice is in it twice. Ichido never reads it; only the count of the demo does.
 */
final class EffectBook implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final FileChannel file;
  private final Map<Operation, List<Effect>> effects = new HashMap<>();
  private long size;

  /** Who asked for an effect, as the remote was told. */
  record Operation(String tenant, String operationId) {}

  /** One effect; numbers are the remote's own, from 1. */
  record Effect(long number, Operation operation, String tool) {
    /** The remote's name of the effect. */
    String reference() {
      return "effect-" + number;
    }
  }

  private EffectBook(FileChannel file) {
    this.file = file;
  }

  /** Opens the book; a line that a kill cut short was never answered, and is taken off. */
  static EffectBook open(Path path) {
    try {
      if (path.getParent() != null) {
        Files.createDirectories(path.getParent());
      }
      byte[] bytes = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
      FileChannel file =
          FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      EffectBook book = new EffectBook(file);
      int whole = 0;
      for (int i = 0; i < bytes.length; i++) {
        if (bytes[i] == '\n') {
          book.load(new String(bytes, whole, i - whole, UTF_8));
          whole = i + 1;
        }
      }
      file.truncate(whole);
      file.position(whole);
      return book;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Does the effect. */
  synchronized Effect append(Operation operation, String tool) {
    Effect effect = new Effect(size + 1, operation, tool);
    ObjectNode line =
        JSON.createObjectNode()
            .put("number", effect.number())
            .put("tenant", operation.tenant())
            .put("operation_id", operation.operationId())
            .put("tool", tool);
    try {
      ByteBuffer buffer = ByteBuffer.wrap((line + "\n").getBytes(UTF_8));
      while (buffer.hasRemaining()) {
        file.write(buffer);
      }
      file.force(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    add(effect);
    return effect;
  }

  /** What was done for the operation, in order. */
  synchronized List<Effect> effectsOf(Operation operation) {
    return List.copyOf(effects.getOrDefault(operation, List.of()));
  }

  /** All effects there ever were. */
  synchronized long size() {
    return size;
  }

  @Override
  public synchronized void close() {
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void load(String line) throws JsonProcessingException {
    JsonNode node = JSON.readTree(line);
    add(
        new Effect(
            node.path("number").asLong(),
            new Operation(node.path("tenant").asText(), node.path("operation_id").asText()),
            node.path("tool").asText()));
  }

  private void add(Effect effect) {
    effects.computeIfAbsent(effect.operation(), none -> new ArrayList<>()).add(effect);
    size = effect.number();
  }
}
