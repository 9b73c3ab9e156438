package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** A client that hides nothing: no pool, no retry, no redirect. */
final class Raw implements AutoCloseable {
  /** An answer with the names of its headers in lower case. */
  @SuppressWarnings("ArrayRecordComponent")
  record Reply(int status, Map<String, String> headers, byte[] bytes) {
    String body() {
      return new String(bytes, UTF_8);
    }

    JsonNode json() {
      return Json.parse(bytes);
    }

    String header(String name) {
      return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
    }
  }

  private final Socket socket;
  private final InputStream in;

  Raw(RemoteServer server) throws IOException {
    this(server.port());
  }

  Raw(int port) throws IOException {
    socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    socket.setSoTimeout(20_000);
    in = new BufferedInputStream(socket.getInputStream());
  }

  /** One request on a connection of its own; headers are pairs of name and value. */
  static Reply call(
      RemoteServer server, String method, String target, String body, String... headers)
      throws IOException {
    return call(server.port(), method, target, body, headers);
  }

  static Reply call(int port, String method, String target, String body, String... headers)
      throws IOException {
    try (Raw raw = new Raw(port)) {
      raw.send(method, target, body, headers);
      return raw.receive();
    }
  }

  static Reply get(RemoteServer server, String target, String... headers) throws IOException {
    return call(server, "GET", target, "", headers);
  }

  void send(String method, String target, String body, String... headers) throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    StringBuilder head = new StringBuilder();
    head.append(method).append(' ').append(target).append(" HTTP/1.1\r\nHost: localhost\r\n");
    boolean typed = false;
    for (int i = 0; i < headers.length; i += 2) {
      head.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
      typed |= headers[i].equalsIgnoreCase("content-type");
    }
    if (!typed) {
      head.append("Content-Type: application/json\r\n");
    }
    head.append("Content-Length: ").append(bytes.length).append("\r\n\r\n");
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    all.writeBytes(head.toString().getBytes(ISO_8859_1));
    all.writeBytes(bytes);
    socket.getOutputStream().write(all.toByteArray());
  }

  Reply receive() throws IOException {
    Map<String, String> headers = new HashMap<>();
    int status = receiveHead(headers);
    int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("half a body");
    }
    return new Reply(status, headers, body);
  }

  int receiveHead(Map<String, String> headers) throws IOException {
    String statusLine = line();
    for (String header = line(); !header.isEmpty(); header = line()) {
      int colon = header.indexOf(':');
      headers.put(
          header.substring(0, colon).toLowerCase(Locale.ROOT), header.substring(colon + 1).strip());
    }
    return Integer.parseInt(statusLine.substring(9, 12));
  }

  InputStream stream() {
    return in;
  }

  Socket socket() {
    return socket;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int b = in.read();
    while (b != '\n') {
      if (b < 0) {
        throw new EOFException("end of stream");
      }
      if (b != '\r') {
        line.write(b);
      }
      b = in.read();
    }
    return line.toString(UTF_8);
  }
}
