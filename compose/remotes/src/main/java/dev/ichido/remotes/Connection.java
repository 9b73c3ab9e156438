package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * One HTTP/1.1 connection on a bare socket. The JDK's own server answers whole and in order, and
 * never gives its socket away; the faults here need what happens in between.
 */
final class Connection implements AutoCloseable {
  private static final int LINE_LIMIT = 64 * 1024;
  private static final int BODY_LIMIT = 64 * 1024 * 1024;

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;
  private boolean keepAlive = true;
  private boolean headOnly;
  private volatile boolean closed;

  Connection(Socket socket) throws IOException {
    this.socket = socket;
    socket.setTcpNoDelay(true);
    this.in = new BufferedInputStream(socket.getInputStream());
    this.out = new BufferedOutputStream(socket.getOutputStream(), 64 * 1024);
  }

  /** The next request's head; empty when the other side is done. */
  Optional<Request.Head> readHead() throws IOException {
    String line = readLine();
    refuseIfClosed();
    if (line.isEmpty()) {
      return Optional.empty();
    }
    String[] parts = line.split(" ", -1);
    if (parts.length != 3) {
      throw new IOException("not a request line");
    }
    Map<String, List<String>> headers = new HashMap<>();
    for (String header = readLine(); !header.isEmpty(); header = readLine()) {
      int colon = header.indexOf(':');
      if (colon <= 0) {
        throw new IOException("not a header");
      }
      headers
          .computeIfAbsent(
              header.substring(0, colon).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(header.substring(colon + 1).strip());
    }
    String target = parts[1];
    int mark = target.indexOf('?');
    // A plus is a plus in a path.
    String path = (mark < 0 ? target : target.substring(0, mark)).replace("+", "%2B");
    String query = mark < 0 ? "" : target.substring(mark + 1);
    boolean stays =
        parts[2].equals("HTTP/1.1")
            && headers.getOrDefault("connection", List.of()).stream()
                .noneMatch(value -> value.toLowerCase(Locale.ROOT).contains("close"));
    keepAlive = stays;
    headOnly = parts[0].equals("HEAD");
    try {
      return Optional.of(
          new Request.Head(
              parts[0], URLDecoder.decode(path, UTF_8), Request.decode(query), headers, stays));
    } catch (IllegalArgumentException e) {
      throw new IOException(e);
    }
  }

  byte[] readBody(Request.Head head) throws IOException {
    if (head.header("expect").filter(v -> v.equalsIgnoreCase("100-continue")).isPresent()) {
      out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
      out.flush();
    }
    if (head.header("transfer-encoding").filter(v -> v.equalsIgnoreCase("chunked")).isPresent()) {
      return readChunks();
    }
    int length;
    try {
      length = Integer.parseInt(head.header("content-length").orElse("0"));
    } catch (NumberFormatException e) {
      throw new IOException(e);
    }
    if (length < 0 || length > BODY_LIMIT) {
      throw new IOException("body of " + length + " bytes");
    }
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("end of a body");
    }
    refuseIfClosed();
    return body;
  }

  /** Whether another request may follow. */
  boolean keepAlive() {
    return keepAlive && !socket.isClosed();
  }

  void endAfterThis() {
    keepAlive = false;
  }

  void send(Answer answer) throws IOException {
    writeHead(answer, answer.body().length);
    write(answer.body(), 0, answer.body().length);
    out.flush();
  }

  /** Status line and headers; the body is to follow with {@link #write}. */
  void writeHead(Answer answer, long length) throws IOException {
    StringBuilder head = new StringBuilder(256);
    head.append("HTTP/1.1 ").append(answer.status()).append(' ').append("-\r\n");
    answer
        .headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    head.append("Content-Length: ").append(length).append("\r\n");
    if (!keepAlive) {
      head.append("Connection: close\r\n");
    }
    out.write(head.append("\r\n").toString().getBytes(ISO_8859_1));
  }

  void write(byte[] bytes, int from, int length) throws IOException {
    if (!headOnly) {
      out.write(bytes, from, length);
    }
  }

  void flush() throws IOException {
    out.flush();
  }

  /** Ends with a TCP reset instead of an orderly end. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() {
    closed = true;
    try {
      socket.close();
    } catch (IOException e) {
      // The other side is gone already.
    }
  }

  /** A read that waits while its socket is closed may still get bytes that came after the close. */
  private void refuseIfClosed() throws SocketException {
    if (closed) {
      throw new SocketException("closed by this side");
    }
  }

  private byte[] readChunks() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    while (true) {
      String line = readLine();
      int end = line.indexOf(';');
      int size;
      try {
        size = Integer.parseInt((end < 0 ? line : line.substring(0, end)).strip(), 16);
      } catch (NumberFormatException e) {
        throw new IOException(e);
      }
      if (size < 0 || body.size() + size > BODY_LIMIT) {
        throw new IOException("chunk of " + size + " bytes");
      }
      if (size == 0) {
        while (!readLine().isEmpty()) {
          // Trailers say nothing here.
        }
        return body.toByteArray();
      }
      byte[] chunk = in.readNBytes(size);
      if (chunk.length < size) {
        throw new EOFException("end of a chunk");
      }
      body.writeBytes(chunk);
      readLine();
    }
  }

  /** Without its line end; empty at the end of the stream, too. */
  private String readLine() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(128);
    for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
      if (b != '\r') {
        line.write(b);
      }
      if (line.size() > LINE_LIMIT) {
        throw new IOException("line too long");
      }
    }
    return line.toString(UTF_8);
  }
}
