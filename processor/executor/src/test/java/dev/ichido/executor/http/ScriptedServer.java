package dev.ichido.executor.http;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Answers every request the same, and closes a connection at its nth request, having read it. */
final class ScriptedServer implements AutoCloseable {
  record Request(String line, List<String> headers, String body) {}

  private final ServerSocket server;
  private final int closeAtRequest;
  private final List<Request> requests = new ArrayList<>();
  private volatile String answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

  ScriptedServer(int closeAtRequest) throws IOException {
    this.closeAtRequest = closeAtRequest;
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  String url() {
    return "http://127.0.0.1:" + port();
  }

  int port() {
    return server.getLocalPort();
  }

  void answer(int status, String body, String header) {
    answer =
        "HTTP/1.1 "
            + status
            + " Scripted\r\n"
            + header
            + "\r\nContent-Length: "
            + body.getBytes(StandardCharsets.UTF_8).length
            + "\r\n\r\n"
            + body;
  }

  /** Sends the answer once more, as nobody's. */
  void answerTwice() {
    String once = answer;
    answer = once + once;
  }

  List<Request> requests() {
    synchronized (requests) {
      return List.copyOf(requests);
    }
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket;
        InputStream in = new BufferedInputStream(socket.getInputStream())) {
      for (int n = 1; ; n++) {
        String line = line(in);
        if (line.isEmpty()) {
          return;
        }
        List<String> headers = new ArrayList<>();
        int length = 0;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
          int colon = header.indexOf(':');
          String name = header.substring(0, colon).toLowerCase(Locale.ROOT);
          headers.add(name + header.substring(colon));
          if (name.equals("content-length")) {
            length = Integer.parseInt(header.substring(colon + 1).strip());
          }
        }
        String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        synchronized (requests) {
          requests.add(new Request(line, List.copyOf(headers), body));
        }
        if (n == closeAtRequest) {
          return;
        }
        socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().flush();
      }
    } catch (IOException e) {
      // The client went away.
      return;
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
