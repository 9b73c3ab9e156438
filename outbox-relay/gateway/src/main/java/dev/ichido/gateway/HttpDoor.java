package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests to intents, replies to answers. */
final class HttpDoor {
  private static final Logger LOG = LoggerFactory.getLogger(HttpDoor.class);
  private static final String JSON = "application/json";
  private static final String PROBLEM = "application/problem+json";
  private static final int TIMELINE = 1_000;
  private static final int PAGE = 50;
  private static final int LARGEST_PAGE = 500;

  /** How long a read is waited for when the request does not say. */
  private static final Duration READ_WAIT = Duration.ofSeconds(30);

  /** A client that asks about a running attempt again need not wait for its whole lease. */
  private static final Duration LONGEST_RETRY_AFTER = Duration.ofSeconds(5);

  /** A stream says something at least this often, so that a client that is gone is noticed. */
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  /** Replies that follow each other are sent together. */
  private static final Duration GATHER = Duration.ofMillis(50);

  private static final Pattern LINE_END = Pattern.compile("\\r\\n|\\n|\\r");
  private static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

  private final GatewayConfig config;
  private final Supplier<Map<String, ActionTerms>> actions;
  private final Credentials credentials;
  private final Limits limits;
  private final Intake intake;
  private final ReplyStore replies;
  private final ReplyFeed feed;
  private final Function<String, Optional<String>> bodies;
  private final Clock clock;
  private final MeterRegistry meters;
  private final byte[] openApi;

  /**
   * @param bodies content of a result that is kept apart, by its SHA-256
   */
  HttpDoor(
      GatewayConfig config,
      Supplier<Map<String, ActionTerms>> actions,
      Credentials credentials,
      Limits limits,
      Intake intake,
      ReplyStore replies,
      ReplyFeed feed,
      Function<String, Optional<String>> bodies,
      Clock clock,
      MeterRegistry meters) {
    this.config = config;
    this.actions = actions;
    this.credentials = credentials;
    this.limits = limits;
    this.intake = intake;
    this.replies = replies;
    this.feed = feed;
    this.bodies = bodies;
    this.clock = clock;
    this.meters = meters;
    this.openApi = OpenApi.document().toPrettyString().getBytes(UTF_8);
  }

  void route(HttpRouting.Builder routing) {
    for (Route route : Route.values()) {
      routing.route(
          io.helidon.http.Method.create(route.method()), route.path(), guarded(route, of(route)));
    }
    for (Route route : Route.values()) {
      routing.any(route.path(), this::methodUnknown);
    }
    routing.any(this::routeUnknown);
  }

  private Work of(Route route) {
    return switch (route) {
      case EXECUTE -> this::execute;
      case ACTION -> this::action;
      case OPERATIONS -> this::operations;
      case OPERATION -> this::operation;
      case CANCEL -> this::cancel;
      case REPLIES -> this::stream;
      case OPENAPI -> this::openApi;
    };
  }

  private interface Work {
    void run(ServerRequest request, ServerResponse response) throws InterruptedException;
  }

  private void execute(ServerRequest request, ServerResponse response) throws InterruptedException {
    Caller caller = caller(request);
    String action = request.path().pathParameters().get("action");
    ActionTerms terms = actions.get().get(action);
    boolean read = terms != null && terms.read();
    Preference preference =
        Preference.parse(Intents.lines(request, Intents.PREFER), config.maxWait());
    String deliveryId = Intake.newDelivery();
    Intents.Wish wish =
        Intents.execute(
            request, caller, action, !read, deliveryId, config.maxBodyBytes(), clock.instant());
    if (preference.async()) {
      write(caller, wish, deliveryId);
      accepted(response, wish.scope(), wish.operationId(), deliveryId);
      return;
    }
    Duration asked = preference.atMost();
    Duration atMost = asked != null ? asked : read ? READ_WAIT : config.decisionWait();
    Reply reply;
    limits.takePlace();
    try (ReplyFeed.Waiter waiter = feed.expect(deliveryId)) {
      write(caller, wish, deliveryId);
      reply = waiter.await(told -> asked == null && !read, atMost);
    } finally {
      limits.givePlaceBack();
    }
    if (asked != null) {
      response.header("Preference-Applied", "wait=" + asked.toSeconds());
    }
    if (reply != null && (reply.last() || !read)) {
      answer(response, reply, AnswerTable.line(reply));
    } else if (read) {
      throw ProblemCode.READ_TIMEOUT.because(
          "Expected the read to be answered within "
              + atMost.toSeconds()
              + " s, but it was not. Nothing is changed by a read: send it again.");
    } else {
      accepted(response, wish.scope(), wish.operationId(), deliveryId);
    }
  }

  private void write(Caller caller, Intents.Wish wish, String deliveryId) {
    intake.write(
        caller,
        wish.scope(),
        wish.operationId(),
        wish.action(),
        deliveryId,
        wish.issuedAt(),
        wish::issued);
  }

  private void action(ServerRequest request, ServerResponse response) {
    caller(request);
    String name = request.path().pathParameters().get("action");
    ActionTerms terms = actions.get().get(name);
    if (terms == null) {
      throw ProblemCode.ACTION_UNKNOWN.because(
          "Expected an action of the policy, but there is none of this name. Check its spelling.");
    }
    ObjectNode document =
        Documents.object()
            .put("action", name)
            .put("effect", terms.read() ? "read" : "write")
            .put("scope", terms.scope())
            .put("key_required", !terms.read());
    if (!terms.read()) {
      document
          .put("lease_seconds", terms.lease().toSeconds())
          .put("retention_seconds", terms.retention().toSeconds())
          .put("tombstone_seconds", terms.tombstone().toSeconds())
          .put("retry_horizon_seconds", terms.retryHorizon().toSeconds());
    }
    send(response, 200, JSON, document);
  }

  private void operation(ServerRequest request, ServerResponse response) {
    Caller caller = caller(request);
    String id = request.path().pathParameters().get("id");
    String scope = Intents.scope(request);
    Intake.Asked asked = intake.find(caller, scope, id).orElse(null);
    ReplyStore.Operation known = replies.find(caller, scope, id).orElse(null);
    List<ReplyStore.Event> events =
        known == null ? List.of() : replies.events(caller, scope, id, TIMELINE);
    List<Reply> told =
        replies.told(caller, scope, id, asked == null ? null : asked.deliveryId(), TIMELINE);
    if (asked == null && known == null && told.isEmpty()) {
      throw ProblemCode.OPERATION_UNKNOWN.because(
          "Expected an operation that this caller asked for, but there is none. Check the id, the"
              + " scope and the credential.");
    }
    send(response, 200, JSON, whole(Documents.operation(scope, id, asked, known, events, told)));
  }

  private void cancel(ServerRequest request, ServerResponse response) throws InterruptedException {
    Caller caller = caller(request);
    String id = request.path().pathParameters().get("id");
    String scope = Intents.scope(request);
    String deliveryId = Intake.newDelivery();
    Reply reply;
    limits.takePlace();
    try (ReplyFeed.Waiter waiter = feed.expect(deliveryId)) {
      intake.write(
          caller,
          scope,
          id,
          null,
          deliveryId,
          Intents.issuedAt(request, id, clock.instant()),
          first -> Intents.cancel(request, caller, scope, id, deliveryId, first));
      reply = waiter.await(told -> true, config.decisionWait());
    } finally {
      limits.givePlaceBack();
    }
    if (reply == null) {
      accepted(response, scope, id, deliveryId);
    } else {
      answer(response, reply, AnswerTable.lineOfCancel(reply));
    }
  }

  private void operations(ServerRequest request, ServerResponse response) {
    Caller caller = caller(request);
    List<String> states =
        request.query().all("state", List::of).stream()
            .flatMap(s -> List.of(s.split(",", -1)).stream())
            .toList();
    int limit = (int) number(request, "limit", PAGE, LARGEST_PAGE);
    long before = number(request, "after", Long.MAX_VALUE, Long.MAX_VALUE);
    List<ReplyStore.Operation> found = replies.list(caller, states, before, limit + 1);
    ObjectNode document = Documents.object();
    ArrayNode page = document.putArray("operations");
    found.stream().limit(limit).map(Documents::operation).forEach(page::add);
    if (found.size() > limit) {
      document.put("next", Long.toString(found.get(limit - 1).seq()));
    }
    send(response, 200, JSON, document);
  }

  private void stream(ServerRequest request, ServerResponse response) throws InterruptedException {
    Caller caller = caller(request);
    Optional<String> last =
        request.headers().first(HeaderNames.create("Last-Event-ID")).filter(s -> !s.isEmpty());
    long seq =
        last.isPresent()
            ? number("Last-Event-ID", last.get(), Long.MAX_VALUE)
            : request.query().contains("after")
                ? number(request, "after", 0, Long.MAX_VALUE)
                : replies.newest();
    limits.takePlace();
    try (OutputStream out = begin(response)) {
      long told = System.nanoTime();
      while (!feed.isStopping()) {
        long version = feed.version();
        long newest = replies.newest();
        List<Reply> found = replies.after(caller, seq, PAGE);
        for (Reply reply : found) {
          seq = reply.seq();
          write(out, event(seq, Documents.reply(reply).toString()));
          told = System.nanoTime();
        }
        if (System.nanoTime() - told >= HEARTBEAT.toNanos()) {
          write(out, ":\n\n");
          told = System.nanoTime();
        }
        if (found.size() < PAGE) {
          // Rows become visible in the order of their places, so what is below is told or
          // another's.
          seq = Math.max(seq, newest);
          TimeUnit.NANOSECONDS.sleep(GATHER.toNanos());
          feed.awaitNews(version, HEARTBEAT);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      limits.givePlaceBack();
    }
  }

  /** A remote's JSON stays as it was written, over several lines perhaps. */
  private static String event(long seq, String data) {
    StringBuilder event = new StringBuilder("id: ").append(seq).append("\nevent: reply\n");
    for (String line : LINE_END.split(data, -1)) {
      event.append("data: ").append(line).append('\n');
    }
    return event.append('\n').toString();
  }

  private static OutputStream begin(ServerResponse response) throws IOException {
    response.status(200);
    response.header("Content-Type", "text/event-stream");
    response.header("Cache-Control", "no-store");
    OutputStream out = response.outputStream();
    write(out, ":\n\n");
    return out;
  }

  private static void write(OutputStream out, String text) throws IOException {
    out.write(text.getBytes(UTF_8));
    out.flush();
  }

  private void openApi(ServerRequest request, ServerResponse response) {
    response.status(200);
    response.header("Content-Type", JSON);
    response.send(openApi);
  }

  private Caller caller(ServerRequest request) {
    Caller caller = credentials.require(request);
    limits.count(caller);
    return caller;
  }

  private void answer(ServerResponse response, Reply reply, AnswerTable.Line line) {
    if (Documents.isReplay(reply)) {
      response.header("Idempotent-Replayed", "true");
    }
    if (line.status() == 202 && reply.operationId() != null) {
      response.header("Location", Documents.statusAddress(reply.scope(), reply.operationId()));
    }
    Instant goesOn = reply.retryAt() == null ? reply.leaseUntil() : reply.retryAt();
    if (line.retry() != AnswerTable.Retry.NEVER && goesOn != null) {
      retryAfter(response, Duration.between(clock.instant(), goesOn), line.retry());
    } else if (line.retry() == AnswerTable.Retry.SAME_KEY) {
      retryAfter(response, LONGEST_RETRY_AFTER, line.retry());
    }
    send(
        response,
        line.status(),
        line.title() == null ? JSON : PROBLEM,
        whole(Documents.answer(reply, line)));
  }

  /** With the result itself where it is a text that can be read, and its handle where it is not. */
  private ObjectNode whole(ObjectNode document) {
    Documents.handle(document)
        .flatMap(bodies)
        .ifPresent(body -> Documents.putResult(document, body));
    return document;
  }

  private static void retryAfter(ServerResponse response, Duration left, AnswerTable.Retry retry) {
    Duration told =
        retry == AnswerTable.Retry.SAME_KEY && left.compareTo(LONGEST_RETRY_AFTER) > 0
            ? LONGEST_RETRY_AFTER
            : left;
    response.header("Retry-After", Long.toString(Math.max(1, told.plusMillis(999).toSeconds())));
  }

  private static void accepted(
      ServerResponse response, String scope, @Nullable String operationId, String deliveryId) {
    if (operationId != null) {
      response.header("Location", Documents.statusAddress(scope, operationId));
    }
    send(response, 202, JSON, Documents.accepted(scope, operationId, deliveryId));
  }

  private static void send(ServerResponse response, int status, String type, ObjectNode document) {
    response.status(Status.create(status));
    response.header("Content-Type", type);
    response.header("Cache-Control", "no-store");
    response.send(document.toString().getBytes(UTF_8));
  }

  private Handler guarded(Route route, Work work) {
    return (request, response) -> {
      long begun = System.nanoTime();
      try {
        work.run(request, response);
      } catch (ProblemException e) {
        problem(response, e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new CloseConnectionException("The door closes", e);
      } catch (CloseConnectionException | UncheckedIOException e) {
        throw e;
      } catch (RuntimeException e) {
        if (response.isSent()) {
          throw e;
        }
        LOG.error("A request to {} failed", route, e);
        problem(
            response,
            ProblemCode.INTERNAL.because(
                "Expected the door to answer, but it failed. Send the same request with the same"
                    + " key again; its log says more."));
      } finally {
        meters
            .timer(
                "ichido.gateway.requests",
                "route",
                route.name(),
                "status",
                Integer.toString(response.status().code()))
            .record(System.nanoTime() - begun, TimeUnit.NANOSECONDS);
      }
    };
  }

  private static void problem(ServerResponse response, ProblemException e) {
    if (e.code() == ProblemCode.UNAUTHENTICATED) {
      response.header("WWW-Authenticate", "Bearer");
    }
    Duration wait = e.retryAfter();
    if (wait != null) {
      response.header("Retry-After", Long.toString(wait.toSeconds()));
    }
    send(
        response,
        e.code().status(),
        PROBLEM,
        Documents.problem(e.code().name(), e.code().title(), e.code().status(), e.detail()));
  }

  private void methodUnknown(ServerRequest request, ServerResponse response) {
    problem(
        response,
        ProblemCode.METHOD_UNKNOWN.because(
            "Expected a method that this address knows, but it is another. Check /openapi.json."));
  }

  private void routeUnknown(ServerRequest request, ServerResponse response) {
    problem(
        response,
        ProblemCode.ROUTE_UNKNOWN.because(
            "Expected an address of the door, but it is another. Check /openapi.json."));
  }

  /** Problem documents for what is refused before a route is found. */
  static DirectHandlers directHandlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(
          type,
          (request, event, status, headers, message) -> {
            ProblemCode code =
                status.code() == ProblemCode.BODY_TOO_LARGE.status()
                    ? ProblemCode.BODY_TOO_LARGE
                    : status.code() >= ProblemCode.INTERNAL.status()
                        ? ProblemCode.INTERNAL
                        : ProblemCode.REQUEST_MALFORMED;
            headers.set(HeaderNames.CONTENT_TYPE, PROBLEM);
            return DirectHandler.TransportResponse.builder()
                .status(status)
                .headers(headers)
                .keepAlive(event.keepAlive())
                .entity(
                    Documents.problem(code.name(), code.title(), status.code(), null)
                        .toString()
                        .getBytes(UTF_8))
                .build();
          });
    }
    return handlers.build();
  }

  private static long number(ServerRequest request, String name, long otherwise, long most) {
    return request
        .query()
        .first(name)
        .asOptional()
        .map(text -> number(name, text, most))
        .orElse(otherwise);
  }

  private static long number(String name, String text, long most) {
    if (!NUMBER.matcher(text).matches()) {
      throw ProblemCode.FIELD_MALFORMED.because(
          "Expected a whole number in " + name + ", but it holds something else. Check it.");
    }
    return Math.clamp(Long.parseLong(text), 0, most);
  }
}
