package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The open streams of one client, and which message goes to which. */
final class McpStreams implements AutoCloseable {
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  /** Messages that are kept while no stream is open. */
  private static final int KEPT = 1_000;

  private final List<Stream> streams = new ArrayList<>();
  private final Deque<ObjectNode> kept = new ArrayDeque<>();
  private long used = System.nanoTime();
  private boolean closed;

  /** One response that goes on. */
  final class Stream implements AutoCloseable {
    private final Set<JsonNode> asked = new HashSet<>();
    private final Set<JsonNode> progress = new HashSet<>();
    private final boolean general;

    /** Empty where the stream is to end. */
    private final BlockingQueue<Optional<ObjectNode>> messages = new LinkedBlockingQueue<>();

    private Stream(List<ObjectNode> requests) {
      this.general = requests.isEmpty();
      for (ObjectNode request : requests) {
        if (McpJson.isRequest(request)) {
          asked.add(request.get("id"));
          JsonNode token = request.path("params").path("_meta").path("progressToken");
          if (!token.isMissingNode()) {
            progress.add(token);
          }
        }
      }
    }

    /** Writes what comes until every request is answered, or the streams are closed. */
    void writeTo(OutputStream out) throws IOException, InterruptedException {
      while (true) {
        Optional<ObjectNode> next = messages.poll(HEARTBEAT.toMillis(), TimeUnit.MILLISECONDS);
        if (next == null) {
          out.write(":\n\n".getBytes(UTF_8));
        } else if (next.isEmpty()) {
          return;
        } else {
          out.write(("event: message\ndata: " + next.get() + "\n\n").getBytes(UTF_8));
        }
        out.flush();
      }
    }

    @Override
    public void close() {
      synchronized (McpStreams.this) {
        streams.remove(this);
        used = System.nanoTime();
      }
    }
  }

  /** The stream that the client opened for what belongs to no request. */
  Stream open() {
    return open(List.of());
  }

  /** The stream of these requests. */
  synchronized Stream open(List<ObjectNode> requests) {
    Stream stream = new Stream(requests);
    streams.add(stream);
    used = System.nanoTime();
    if (closed) {
      stream.messages.add(Optional.empty());
    }
    while (stream.general && !kept.isEmpty()) {
      stream.messages.add(Optional.of(kept.poll()));
    }
    return stream;
  }

  /** Takes what is for the client. */
  synchronized void accept(ObjectNode message) {
    Stream to = find(message);
    if (to == null) {
      // The answer to a request whose stream is gone is kept by the operation, not here.
      if (!McpJson.isResponse(message)) {
        if (kept.size() == KEPT) {
          kept.poll();
        }
        kept.add(message);
      }
      return;
    }
    to.messages.add(Optional.of(message));
    if (McpJson.isResponse(message)) {
      to.asked.remove(message.get("id"));
      if (to.asked.isEmpty()) {
        to.messages.add(Optional.empty());
      }
    }
  }

  /** Ends the wait for an answer that does not come, since its request was cancelled. */
  synchronized void forget(JsonNode id) {
    Stream stream = first(it -> it.asked.contains(id));
    if (stream != null) {
      stream.asked.remove(id);
      if (stream.asked.isEmpty()) {
        stream.messages.add(Optional.empty());
      }
    }
  }

  private @Nullable Stream find(ObjectNode message) {
    if (McpJson.isResponse(message)) {
      return first(it -> it.asked.contains(message.get("id")));
    }
    JsonNode token = message.path("params").path("progressToken");
    Stream byToken = token.isMissingNode() ? null : first(it -> it.progress.contains(token));
    if (byToken != null) {
      return byToken;
    }
    // Which request a question belongs to, a message does not say; the newest is the likeliest.
    boolean change = McpJson.method(message).matches("notifications/(resources|tools|prompts)/.*");
    Stream ofRequest = change ? null : first(it -> !it.general);
    Stream general = first(it -> it.general);
    return ofRequest != null ? ofRequest : general != null ? general : first(it -> true);
  }

  private @Nullable Stream first(Predicate<Stream> fits) {
    for (int i = streams.size() - 1; i >= 0; i--) {
      if (fits.test(streams.get(i))) {
        return streams.get(i);
      }
    }
    return null;
  }

  synchronized boolean isIdleFor(Duration time) {
    return streams.isEmpty() && System.nanoTime() - used > time.toNanos();
  }

  @Override
  public synchronized void close() {
    closed = true;
    streams.forEach(stream -> stream.messages.add(Optional.empty()));
  }
}
