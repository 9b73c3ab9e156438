package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The remote, in a process of its own: {@code POST /effects/KEY} takes effect and says how often it
 * did; {@code GET /count} says how many effects there were, and how many keys had more than one. It
 * does as little as an HTTP server can, so that it doesn't hide what is measured, and ends with its
 * parent.
 */
final class Sink {
  private static final Map<String, AtomicInteger> EFFECTS = new ConcurrentHashMap<>();

  private Sink() {}

  public static void main(String[] arguments) throws IOException {
    try (ServerSocket server = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform().start(() -> accept(server));
      System.out.println(server.getLocalPort());
      while (System.in.read() >= 0) {
        // Only the end says something.
      }
    }
    System.exit(0);
  }

  private static void accept(ServerSocket server) {
    try {
      while (true) {
        Socket socket = server.accept();
        Thread.ofPlatform().daemon().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The end.
    }
  }

  private static void serve(Socket socket) {
    try (socket) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      OutputStream out = socket.getOutputStream();
      for (String request = line(in); request != null; request = line(in)) {
        int length = 0;
        for (String head = line(in); head != null && !head.isEmpty(); head = line(in)) {
          if (head.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
            length = Integer.parseInt(head.substring(15).strip());
          }
        }
        in.skipNBytes(length);
        String path = request.split(" ", 3)[1];
        byte[] body = (path.equals("/count") ? count() : effect(path)).getBytes(UTF_8);
        byte[] head =
            ("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
                    + body.length
                    + "\r\n\r\n")
                .getBytes(US_ASCII);
        byte[] answer = new byte[head.length + body.length];
        System.arraycopy(head, 0, answer, 0, head.length);
        System.arraycopy(body, 0, answer, head.length, body.length);
        out.write(answer);
      }
    } catch (IOException gone) {
      // The client closed its connection.
    }
  }

  private static String effect(String path) {
    String key = path.substring(path.lastIndexOf('/') + 1);
    int times = EFFECTS.computeIfAbsent(key, none -> new AtomicInteger()).incrementAndGet();
    return "{\"effect\":\"" + key + "#" + times + "\",\"times\":" + times + "}";
  }

  private static String count() {
    long effects = EFFECTS.values().stream().mapToLong(AtomicInteger::get).sum();
    long doubled = EFFECTS.values().stream().filter(times -> times.get() > 1).count();
    return "{\"effects\":" + effects + ",\"doubled\":" + doubled + "}";
  }

  static @Nullable String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        return null;
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }
}
