package dev.ichido.executor.fake;

import dev.ichido.executor.fake.HttpExchange.Answer;
import dev.ichido.executor.fake.HttpExchange.Request;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A remote on a loopback socket. It speaks just enough HTTP/1.1 to be able to break it: faults are
 * made on the wire, not by an HTTP library that would repair them.
 */
public final class FakeRemote implements AutoCloseable {
  private static final int HUGE = 8 << 20;

  private final RemoteBehaviour behaviour;
  private final ServerSocket server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Map<String, Deque<RemoteFault>> faults = new ConcurrentHashMap<>();
  private final Set<String> statusDown = ConcurrentHashMap.newKeySet();
  private final Map<String, AtomicInteger> lies = new ConcurrentHashMap<>();
  private final List<Request> requests = new ArrayList<>();
  private final CountDownLatch closing = new CountDownLatch(1);
  private volatile Duration slowness = Duration.ofMillis(300);

  private FakeRemote(RemoteBehaviour behaviour, ServerSocket server) {
    this.behaviour = behaviour;
    this.server = server;
  }

  /** Starts on a free port of loopback. */
  public static FakeRemote start(RemoteBehaviour behaviour) {
    try {
      ServerSocket server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
      FakeRemote remote = new FakeRemote(behaviour, server);
      Thread.ofVirtual().name("fake-remote").start(remote::accept);
      return remote;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@code http://127.0.0.1:port}. */
  public String url() {
    return "http://127.0.0.1:" + server.getLocalPort();
  }

  public int port() {
    return server.getLocalPort();
  }

  /** The only witness. */
  public EffectBook book() {
    return behaviour.book();
  }

  /** The next requests for this operation fail so, in this order; later ones are clean. */
  public void failNext(String operation, RemoteFault... next) {
    faults.computeIfAbsent(operation, o -> new ArrayDeque<>()).addAll(List.of(next));
  }

  /** Lets status reads of an operation work again. */
  public void repairStatusReads() {
    statusDown.clear();
  }

  /** How late a slow answer comes. */
  public void slowness(Duration duration) {
    slowness = duration;
  }

  /** Requests that were read completely, in the order of their arrival. */
  public List<Request> requests() {
    synchronized (requests) {
      return List.copyOf(requests);
    }
  }

  /** Requests that ask for an effect. */
  public List<Request> writes() {
    return requests().stream().filter(r -> !r.method().equals("GET")).toList();
  }

  @Override
  public void close() {
    closing.countDown();
    try {
      server.close();
      for (Socket socket : sockets) {
        socket.close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    threads.shutdownNow();
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket socket = server.accept();
        sockets.add(socket);
        threads.execute(() -> serve(socket));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket;
        InputStream in = new BufferedInputStream(socket.getInputStream());
        OutputStream out = socket.getOutputStream()) {
      socket.setTcpNoDelay(true);
      while (true) {
        Request request = read(in);
        if (request == null) {
          return;
        }
        synchronized (requests) {
          requests.add(request);
        }
        if (!answer(request, socket, out)) {
          return;
        }
      }
    } catch (IOException | InterruptedException e) {
      // The caller went away, or we do.
      return;
    } finally {
      sockets.remove(socket);
    }
  }

  /** Returns whether the connection goes on. */
  private boolean answer(Request request, Socket socket, OutputStream out)
      throws IOException, InterruptedException {
    if (request.method().equals("GET")) {
      return answerStatusRead(request, out);
    }
    String operation = behaviour.operationOf(request);
    Deque<RemoteFault> queue = faults.get(operation);
    RemoteFault fault = RemoteFault.CLEAN;
    if (queue != null) {
      synchronized (queue) {
        fault = queue.isEmpty() ? RemoteFault.CLEAN : queue.poll();
      }
    }
    switch (fault) {
      case CLEAN -> {
        write(out, behaviour.perform(request));
        return true;
      }
      case ACCEPT_THEN_TIME_OUT -> {
        behaviour.perform(request);
        closing.await();
        return false;
      }
      case ERROR_AFTER_SETTLING -> {
        behaviour.perform(request);
        write(out, Answer.json(500, "{\"error\":{\"code\":\"internal\"}}"));
        return true;
      }
      case ERROR_BEFORE_SETTLING -> {
        write(out, Answer.json(500, "{\"error\":{\"code\":\"internal\"}}"));
        return true;
      }
      case ANSWERS_TWICE -> {
        byte[] bytes = bytes(behaviour.perform(request));
        out.write(bytes);
        out.write(bytes);
        out.flush();
        return true;
      }
      case SLOW_ANSWER -> {
        Answer answer = behaviour.perform(request);
        if (closing.await(slowness.toMillis(), TimeUnit.MILLISECONDS)) {
          return false;
        }
        write(out, answer);
        return true;
      }
      case STATUS_READ_UNAVAILABLE -> {
        behaviour.perform(request);
        statusDown.add(operation);
        closing.await();
        return false;
      }
      case DECLARED_SAFE -> {
        write(
            out,
            Answer.json(503, "{\"error\":{\"code\":\"not_accepted\"}}").with("Retry-After", "7"));
        return true;
      }
      case SLOW_LORIS -> {
        behaviour.perform(request);
        out.write(
            "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i < 100_000; i++) {
          out.write(' ');
          out.flush();
          if (closing.await(20, TimeUnit.MILLISECONDS)) {
            return false;
          }
        }
        return false;
      }
      case RESET_MID_BODY -> {
        byte[] bytes = bytes(behaviour.perform(request));
        out.write(bytes, 0, bytes.length - 5);
        out.flush();
        reset(socket);
        return false;
      }
      case CLOSED_WITHOUT_ANSWER -> {
        behaviour.perform(request);
        return false;
      }
      case CLOSED_BEFORE_SETTLING -> {
        return false;
      }
      case LYING_NOT_FOUND -> {
        behaviour.perform(request);
        lies.put(operation, new AtomicInteger(1));
        closing.await();
        return false;
      }
      case HUGE_ANSWER -> {
        behaviour.perform(request);
        write(out, Answer.json(200, "\"" + "x".repeat(HUGE) + "\""));
        return true;
      }
      case REDIRECT -> {
        write(out, Answer.json(307, "").with("Location", url() + request.path()));
        return true;
      }
    }
    throw new IllegalStateException();
  }

  private boolean answerStatusRead(Request request, OutputStream out) throws IOException {
    String operation = behaviour.operationOf(request);
    if (statusDown.contains(operation)) {
      write(out, Answer.json(503, "{\"error\":{\"code\":\"unavailable\"}}"));
      return true;
    }
    AtomicInteger lie = lies.get(operation);
    if (lie != null && lie.getAndDecrement() > 0) {
      write(out, Answer.json(404, "{\"error\":{\"code\":\"not_found\"}}"));
      return true;
    }
    write(out, behaviour.find(request));
    return true;
  }

  private static void reset(Socket socket) throws SocketException {
    socket.setSoLinger(true, 0);
  }

  private static void write(OutputStream out, Answer answer) throws IOException {
    out.write(bytes(answer));
    out.flush();
  }

  private static byte[] bytes(Answer answer) {
    byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
    StringBuilder head = new StringBuilder("HTTP/1.1 " + answer.status() + " Fake\r\n");
    answer
        .headers()
        .forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    head.append("Content-Length: ").append(body.length).append("\r\n\r\n");
    byte[] headBytes = head.toString().getBytes(StandardCharsets.ISO_8859_1);
    byte[] all = new byte[headBytes.length + body.length];
    System.arraycopy(headBytes, 0, all, 0, headBytes.length);
    System.arraycopy(body, 0, all, headBytes.length, body.length);
    return all;
  }

  private static @Nullable Request read(InputStream in) throws IOException {
    String line = line(in);
    if (line == null) {
      return null;
    }
    String[] start = line.split(" ", -1);
    if (start.length != 3) {
      throw new IOException("Expected a request line.");
    }
    Map<String, String> headers = new HashMap<>();
    for (String header = line(in); header != null && !header.isEmpty(); header = line(in)) {
      int colon = header.indexOf(':');
      headers.put(
          header.substring(0, colon).strip().toLowerCase(Locale.ROOT),
          header.substring(colon + 1).strip());
    }
    byte[] body = in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
    int question = start[1].indexOf('?');
    return new Request(
        start[0],
        question < 0 ? start[1] : start[1].substring(0, question),
        HttpExchange.queryOf(question < 0 ? null : start[1].substring(question + 1)),
        headers,
        new String(body, StandardCharsets.UTF_8));
  }

  private static @Nullable String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
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
