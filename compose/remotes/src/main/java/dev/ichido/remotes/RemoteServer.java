package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A remote system on loopback: the contract of its kind, faults on demand, and a book of what
 * really happened. Beside the contract's own paths it has a control surface for other processes:
 *
 * <ul>
 *   <li>{@code GET /_book}, also with {@code ?business_key=, natural_key=, downstream_key=,
 *       reference=}: {@code count, count_by_key, duplicates, effects}
 *   <li>{@code GET /_calls}: {@code writes, reads, writes_by_key}
 *   <li>{@code GET /_faults}; {@code POST /_faults} with a fault ({@code {"fault": "slow",
 *       "delay_ms": 100, "times": 1, "status": 0, "bytes": 0, "business_key": null, "on_reads":
 *       false}}, all but its name optional), or {@code {"queue": [fault…], "random": {"seed": 1,
 *       "rules": [{"probability": 0.1, "fault": fault}]}, "status": {"mode": "lagging", "reads": 3,
 *       "time_ms": 0}}}; {@code DELETE /_faults} clears and releases; {@code POST /_faults/release}
 *       only releases
 *   <li>{@code POST /_clock} with {@code {"advance_ms": n}}; {@code GET /_clock}
 *   <li>{@code GET /_health}
 * </ul>
 */
public final class RemoteServer implements AutoCloseable {
  private static final Duration WITHOUT_LIMIT = Duration.ZERO;

  private final RemoteConfig config;
  private final MovableClock clock;
  private final Book book;
  private final Releases releases = new Releases();
  private final Releases refusals = new Releases();
  private final AtomicLong refusal = new AtomicLong();
  private final Faults faults;
  private final RemoteContract contract;
  private final KeyMemory memory;
  private final StatusReads statusReads;
  private final Listener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Integer> writesByKey = new HashMap<>();
  private long writes;
  private long reads;

  private RemoteServer(RemoteConfig config, Book book) {
    this.config = config;
    this.book = book;
    this.clock = new MovableClock(config.clock());
    this.faults = new Faults(releases, this::refuseConnections, this::acceptConnections);
    this.contract = config.kind().contract(config.window());
    this.memory = new KeyMemory(contract.remembered(config.window()), book.keptAtOpen());
    this.statusReads = new StatusReads(book, faults, clock);
    this.listener = new Listener(config.port(), this::handle);
  }

  /**
   * Opens the book and listens.
   *
   * @throws RemoteException BOOK_UNUSABLE, BOOK_IN_USE, BOOK_CORRUPT, BOOK_OF_ANOTHER_KIND,
   *     PORT_IN_USE
   */
  public static RemoteServer start(RemoteConfig config) {
    Book book = Book.open(config.book(), config.kind().label());
    try {
      return new RemoteServer(config, book);
    } catch (RuntimeException e) {
      book.close();
      throw e;
    }
  }

  public RemoteKind kind() {
    return config.kind();
  }

  public int port() {
    return listener.port();
  }

  /** {@code http://127.0.0.1:PORT}, without a slash at its end. */
  public URI uri() {
    return URI.create("http://127.0.0.1:" + port());
  }

  /** A URL of this remote. */
  public URI uri(String pathAndQuery) {
    return URI.create(uri() + pathAndQuery);
  }

  public Book book() {
    return book;
  }

  public Faults faults() {
    return faults;
  }

  /** The remote's time, which can be moved. */
  public MovableClock clock() {
    return clock;
  }

  public Calls calls() {
    lock.lock();
    try {
      return new Calls(writes, reads, writesByKey);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes the listener and all connections; listens again after the time, or, when it is zero,
   * when {@link #acceptConnections()} is called.
   */
  public void refuseConnections(Duration time) {
    refuseConnections(time, null);
  }

  /** Listens again, if it does not. */
  public void acceptConnections() {
    refusal.incrementAndGet();
    refusals.releaseAll();
    listener.listen();
  }

  /** Stops; what is held is dropped without an effect. The book stays readable. */
  @Override
  public void close() {
    releases.close();
    refusals.close();
    listener.close();
    book.close();
  }

  private void refuseConnections(Duration time, @Nullable Connection except) {
    long mine = refusal.incrementAndGet();
    refusals.releaseAll();
    listener.refuse(except);
    if (!time.isZero()) {
      Thread.ofVirtual()
          .start(
              () -> {
                if (refusals.await(time) == Releases.Signal.ELAPSED && refusal.get() == mine) {
                  listener.listen();
                }
              });
    }
  }

  private void handle(Request.Head head, Connection connection) throws IOException {
    if (head.path().startsWith("/_")) {
      control(new Request(head, connection.readBody(head)), connection);
      return;
    }
    boolean knownByHead = config.kind() != RemoteKind.EC2 && !head.reads();
    if (knownByHead && faults.takeResetBeforeRead(config.businessKey().find(head))) {
      count(true, config.businessKey().find(head));
      connection.reset();
      return;
    }
    Request request = new Request(head, connection.readBody(head));
    if (contract.writes(request)) {
      write(request, connection);
    } else {
      read(request, connection);
    }
  }

  private void write(Request request, Connection connection) throws IOException {
    Optional<String> naturalKey = config.naturalKey().find(request);
    Optional<String> businessKey = config.businessKey().find(request).or(() -> naturalKey);
    count(true, businessKey);
    if (businessKey.isEmpty()) {
      connection.send(
          contract.error(
              400,
              "business_key_missing",
              "Expected a business key or a natural key, but the request has neither. Check"
                  + " the key sources of this stand-in."));
      return;
    }
    Fault fault = faults.next(false, businessKey);
    Optional<Answer> inFront = inFront(request, fault);
    if (inFront.isPresent()) {
      connection.send(inFront.get());
      return;
    }
    switch (fault.kind()) {
      case TIMEOUT_BEFORE_COMMIT -> {
        releases.await(WITHOUT_LIMIT);
        connection.close();
        return;
      }
      case RESET_BEFORE_READ -> {
        connection.reset();
        return;
      }
      case REFUSE_CONNECTION -> {
        refuseConnections(fault.delay(), null);
        return;
      }
      default -> {}
    }
    Execution execution =
        new Execution(
            contract,
            book,
            memory,
            releases,
            clock,
            businessKey.get(),
            naturalKey.orElse(null),
            request.head().method() + " " + request.head().path(),
            fault);
    Answer answer;
    try {
      answer = contract.write(request, execution);
    } catch (Execution.Abandoned e) {
      connection.close();
      return;
    } catch (RemoteException e) {
      // The remote is being closed; the client is left without an answer.
      connection.close();
      if (e.code() == RemoteException.Code.CLOSED) {
        return;
      }
      throw e;
    }
    deliver(connection, contract.shaped(request, answer), fault, execution.waited());
  }

  private void read(Request request, Connection connection) throws IOException {
    count(false, Optional.empty());
    Fault fault = faults.next(true, config.businessKey().find(request));
    boolean unavailable =
        fault.kind() == FaultKind.STATUS_UNAVAILABLE
            || faults.status().mode() == StatusMode.Mode.UNAVAILABLE;
    if (unavailable) {
      Answer answer = contract.error(503, "unavailable", "The status can't be read now.");
      connection.send(contract.shaped(request, answer));
      return;
    }
    Optional<Answer> inFront = inFront(request, fault);
    if (inFront.isPresent()) {
      connection.send(inFront.get());
      return;
    }
    if (fault.kind() == FaultKind.RESET_BEFORE_READ) {
      connection.reset();
      return;
    }
    StatusReads seen = fault.kind() == FaultKind.LYING_404 ? statusReads.denying() : statusReads;
    deliver(connection, contract.shaped(request, contract.read(request, seen)), fault, false);
  }

  /** Answers that come from something in front of the remote, or that need none of its state. */
  private Optional<Answer> inFront(Request request, Fault fault) {
    return switch (fault.kind()) {
      case TOO_MANY_REQUESTS ->
          Optional.of(
              contract
                  .shaped(
                      request,
                      contract.error(fault.status(), "too_many_requests", "Too many requests."))
                  .with("Retry-After", Long.toString(fault.delay().toSeconds())));
      case STALE_PRECONDITION ->
          Optional.of(
              contract.shaped(
                  request, contract.error(fault.status(), "conditionNotMet", "It has changed.")));
      case REDIRECT ->
          Optional.of(
              Answer.empty(fault.status())
                  .with("Location", uri() + request.head().path() + "?redirected=1"));
      case ERROR_BEFORE_COMMIT ->
          fault.ofGateway() ? Optional.of(gateway(fault.status())) : Optional.empty();
      default -> Optional.empty();
    };
  }

  private void deliver(Connection connection, Answer answer, Fault fault, boolean waited)
      throws IOException {
    switch (fault.kind()) {
      case ACCEPT_THEN_TIMEOUT -> {
        releases.await(WITHOUT_LIMIT);
        connection.close();
      }
      case ERROR_AFTER_COMMIT ->
          connection.send(fault.ofGateway() ? gateway(fault.status()) : answer);
      case RETRY_INVITED ->
          connection.send(
              gateway(fault.status())
                  .with("Retry-After", Long.toString(fault.delay().toSeconds()))
                  .with("Stripe-Should-Retry", "true"));
      case ANSWER_TWICE -> {
        connection.send(answer);
        connection.send(answer);
      }
      case SLOW -> {
        if (!waited) {
          releases.await(fault.delay());
        }
        connection.send(answer);
      }
      case SLOW_LORIS_BODY -> {
        connection.writeHead(answer, answer.body().length);
        connection.flush();
        for (int i = 0; i < answer.body().length; i++) {
          if (releases.await(fault.delay()) == Releases.Signal.CLOSED) {
            connection.close();
            return;
          }
          connection.write(answer.body(), i, 1);
          connection.flush();
        }
      }
      case RESET_AFTER_COMMIT -> connection.reset();
      case RESET_MID_BODY -> {
        connection.writeHead(answer, answer.body().length);
        connection.write(answer.body(), 0, answer.body().length / 2);
        connection.flush();
        connection.reset();
      }
      case OVERSIZE_BODY -> {
        int blanks = Math.max(0, fault.bytes() - answer.body().length);
        connection.writeHead(answer, (long) answer.body().length + blanks);
        connection.write(answer.body(), 0, answer.body().length);
        byte[] padding = new byte[8192];
        Arrays.fill(padding, (byte) ' ');
        for (int left = blanks; left > 0; left -= padding.length) {
          connection.write(padding, 0, Math.min(left, padding.length));
        }
        connection.flush();
      }
      default -> connection.send(answer);
    }
  }

  private static Answer gateway(int status) {
    return Answer.text(status, "text/html", "<html><body>gateway: " + status + "</body></html>");
  }

  private void count(boolean write, Optional<String> businessKey) {
    lock.lock();
    try {
      if (write) {
        writes++;
        businessKey.ifPresent(key -> writesByKey.merge(key, 1, Integer::sum));
      } else {
        reads++;
      }
    } finally {
      lock.unlock();
    }
  }

  private void control(Request request, Connection connection) throws IOException {
    Duration refuseFor = null;
    Answer answer;
    try {
      JsonNode content = request.content();
      switch (request.head().method() + " " + request.head().path()) {
        case "GET /_health" -> {
          ObjectNode health = Json.object();
          health.put("kind", config.kind().label());
          health.put("pid", ProcessHandle.current().pid());
          answer = Answer.json(200, health);
        }
        case "GET /_book" -> answer = Answer.json(200, selected(request).toJson());
        case "GET /_calls" -> answer = Answer.json(200, calls().toJson());
        case "GET /_faults" -> answer = Answer.json(200, faults.toJson());
        case "POST /_faults" -> {
          refuseFor = order(content);
          answer = Answer.json(200, faults.toJson());
        }
        case "DELETE /_faults" -> {
          faults.clear();
          answer = Answer.json(200, faults.toJson());
        }
        case "POST /_faults/release" -> {
          faults.release();
          answer = Answer.json(200, faults.toJson());
        }
        case "GET /_clock" -> answer = time();
        case "POST /_clock" -> {
          clock.advance(Duration.ofMillis(content.path("advance_ms").asLong()));
          answer = time();
        }
        default -> answer = Answer.text(404, "text/plain", "no such control path\n");
      }
    } catch (RemoteException e) {
      ObjectNode error = Json.object();
      error.put("code", e.code().name());
      error.put("message", String.valueOf(e.getMessage()));
      answer = Answer.json(400, error);
    }
    if (refuseFor != null) {
      connection.endAfterThis();
    }
    connection.send(answer);
    if (refuseFor != null) {
      refuseConnections(refuseFor, connection);
    }
  }

  /** Takes faults from the control surface; how long to refuse connections, or null. */
  private @Nullable Duration order(JsonNode content) {
    List<JsonNode> queue = new ArrayList<>();
    if (content.has("fault")) {
      queue.add(content);
    }
    content.path("queue").forEach(queue::add);
    List<Fault> parsed = queue.stream().map(Fault::fromJson).toList();
    if (content.has("random")) {
      List<Faults.Rule> rules = new ArrayList<>();
      for (JsonNode rule : content.path("random").path("rules")) {
        rules.add(
            new Faults.Rule(
                rule.path("probability").asDouble(), Fault.fromJson(rule.path("fault"))));
      }
      faults.random(content.path("random").path("seed").asLong(), rules);
    }
    if (content.has("status") && content.path("status").isObject()) {
      faults.status(StatusMode.fromJson(content.path("status")));
    }
    Duration refuseFor = null;
    for (Fault fault : parsed) {
      if (fault.kind() == FaultKind.REFUSE_CONNECTION) {
        if (fault.delay().isZero()) {
          throw RemoteException.notUnderstood("a delay of refused connections above 0", "0");
        }
        refuseFor = fault.delay();
      } else {
        faults.add(fault);
      }
    }
    return refuseFor;
  }

  private BookReading selected(Request request) {
    Map<String, String> query = request.head().query();
    BookReading all = book.reading();
    return new BookReading(
        all.having(
            effect ->
                matches(query.get("business_key"), effect.businessKey())
                    && matches(query.get("natural_key"), effect.naturalKey())
                    && matches(query.get("downstream_key"), effect.downstreamKey())
                    && matches(query.get("reference"), effect.reference())));
  }

  private static boolean matches(@Nullable String asked, @Nullable String there) {
    return asked == null || asked.equals(there);
  }

  private Answer time() {
    ObjectNode json = Json.object();
    json.put("now", clock.instant().toString());
    return Answer.json(200, json);
  }

  /**
   * Runs one remote as a process of its own, until it is killed: {@code --kind K --book FILE
   * [--port P] [--business-key SOURCE] [--natural-key SOURCE] [--window PT24H]}. Prints one line of
   * JSON with {@code kind, port, pid} when it listens.
   */
  public static void main(String[] arguments) {
    int status = run(arguments, System.out, System.err);
    if (status != 0) {
      System.exit(status);
    }
  }

  private static int run(String[] arguments, PrintStream out, PrintStream errors) {
    Map<String, String> options = new HashMap<>();
    for (int i = 0; i + 1 < arguments.length; i += 2) {
      options.put(arguments[i], arguments[i + 1]);
    }
    String kind = options.remove("--kind");
    String file = options.remove("--book");
    if (kind == null || file == null || arguments.length % 2 != 0) {
      errors.println(
          "Expected --kind K --book FILE [--port P] [--business-key SOURCE] [--natural-key SOURCE]"
              + " [--window PT24H], in pairs.");
      return 2;
    }
    try {
      RemoteConfig config = RemoteConfig.of(RemoteKind.labelled(kind), Path.of(file));
      for (Map.Entry<String, String> option : options.entrySet()) {
        config =
            switch (option.getKey()) {
              case "--port" -> config.withPort(Integer.parseInt(option.getValue()));
              case "--business-key" -> config.withBusinessKey(KeySource.parse(option.getValue()));
              case "--natural-key" -> config.withNaturalKey(KeySource.parse(option.getValue()));
              case "--window" -> config.withWindow(Duration.parse(option.getValue()));
              default -> throw RemoteException.notUnderstood("a known option", option.getKey());
            };
      }
      RemoteServer server = start(config);
      ObjectNode ready = Json.object();
      ready.put("kind", server.kind().label());
      ready.put("port", server.port());
      ready.put("pid", ProcessHandle.current().pid());
      out.println(new String(Json.bytes(ready), UTF_8));
      out.flush();
      new CountDownLatch(1).await();
      return 0;
    } catch (RemoteException | IllegalArgumentException | DateTimeException e) {
      errors.println(e.getMessage());
      return 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 1;
    }
  }
}
