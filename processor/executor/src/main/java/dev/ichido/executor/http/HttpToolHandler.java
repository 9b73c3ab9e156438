package dev.ichido.executor.http;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.executor.CallFacts;
import dev.ichido.executor.ResultBody;
import dev.ichido.executor.StatusAnswer;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.ToolOutcome;
import dev.ichido.executor.http.HttpContract.AnswerRule;
import dev.ichido.executor.http.HttpContract.KeyPlace;
import dev.ichido.executor.http.HttpContract.Meaning;
import dev.ichido.executor.http.HttpContract.Place;
import dev.ichido.executor.http.HttpContract.StateMember;
import dev.ichido.executor.http.HttpContract.StatusRead;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Performs an action by one HTTP request, as its contract says. Whatever the contract does not name
 * is unknown: only a connection that was refused, or a host without an address, proves by itself
 * that nothing was sent.
 */
public final class HttpToolHandler implements ToolHandler {
  private final HttpContract contract;
  private final HttpClient client;
  private final Clock clock;

  /**
   * @param client as {@link HttpRemotes} makes it: HTTP/1.1, no redirects, the contract's connect
   *     timeout
   */
  HttpToolHandler(HttpContract contract, HttpClient client, Clock clock) {
    this.contract = contract;
    this.client = client;
    this.clock = clock;
  }

  @Override
  public String remote() {
    return contract.remote();
  }

  @Override
  public ToolOutcome execute(ToolCommand command) throws InterruptedException {
    HttpRequest request;
    try {
      request = request(command);
    } catch (UnfitException e) {
      return new ToolOutcome.FailedTerminal(e.reason, null, CallFacts.NONE);
    } catch (TemplateValues.MissingValueException e) {
      return new ToolOutcome.FailedTerminal("TEMPLATE_VALUE_MISSING", null, CallFacts.NONE);
    } catch (IllegalArgumentException e) {
      return new ToolOutcome.FailedTerminal("REQUEST_INVALID", null, CallFacts.NONE);
    }
    HttpAnswer answer;
    try {
      answer = send(request);
    } catch (NoAnswerException e) {
      return e.notSent
          ? new ToolOutcome.FailedRetryable(e.reason, null, CallFacts.NONE)
          : new ToolOutcome.Unknown(e.reason, null, e.facts());
    }
    return judge(answer);
  }

  private ToolOutcome judge(HttpAnswer answer) {
    CallFacts facts = facts(answer);
    ResultBody body = answer.body().length == 0 ? null : ResultBody.of(answer.body());
    Optional<AnswerRule> rule = answer.findRule(contract.rules());
    Meaning meaning;
    String reason = "STATUS_UNEXPECTED";
    if (rule.isPresent()) {
      meaning = rule.get().means();
      reason = rule.get().reason() == null ? "ANSWER_RULE" : rule.get().reason();
    } else if (contract.expected().contains(answer.status())) {
      meaning = Meaning.SUCCEEDED;
    } else if (contract.notAccepted().contains(answer.status())) {
      meaning = Meaning.NOT_ACCEPTED;
      reason = "NOT_ACCEPTED";
    } else if (contract.terminal().contains(answer.status())) {
      meaning = Meaning.TERMINAL;
      reason = "REFUSED_BY_REMOTE";
    } else {
      meaning = Meaning.UNKNOWN;
      if (answer.status() >= 300 && answer.status() < 400) {
        reason = "REDIRECT_NOT_FOLLOWED";
      }
    }
    return switch (meaning) {
      case SUCCEEDED, COMMITTED ->
          new ToolOutcome.Succeeded(
              answer.findReference(contract.reference(), contract.referenceHeader()),
              body,
              contract.resultSchema(),
              facts);
      case NOT_ACCEPTED, ABSENT -> new ToolOutcome.FailedRetryable(reason, body, facts);
      case TERMINAL -> new ToolOutcome.FailedTerminal(reason, body, facts);
      case UNKNOWN -> new ToolOutcome.Unknown(reason, body, facts);
    };
  }

  @Override
  public StatusAnswer readStatus(ToolCommand command) throws InterruptedException {
    StatusRead status = contract.status();
    if (status == null) {
      return new StatusAnswer.Undetermined("NO_STATUS_READ", CallFacts.NONE);
    }
    HttpAnswer answer;
    try {
      TemplateValues values = new TemplateValues(command);
      HttpRequest.Builder builder =
          HttpRequest.newBuilder(allowed(status.url().fillUrl(values)))
              .timeout(contract.timeouts().firstByte())
              .method(status.method(), BodyPublishers.noBody());
      status.headers().forEach((name, value) -> setHeader(builder, name, value.fill(values)));
      answer = send(builder.build());
    } catch (UnfitException e) {
      return new StatusAnswer.Undetermined(e.reason, CallFacts.NONE);
    } catch (TemplateValues.MissingValueException e) {
      return new StatusAnswer.Undetermined("TEMPLATE_VALUE_MISSING", CallFacts.NONE);
    } catch (IllegalArgumentException e) {
      return new StatusAnswer.Undetermined("REQUEST_INVALID", CallFacts.NONE);
    } catch (NoAnswerException e) {
      return new StatusAnswer.Undetermined(e.reason, e.facts());
    }
    return judgeStatus(status, answer);
  }

  private StatusAnswer judgeStatus(StatusRead status, HttpAnswer answer) {
    CallFacts facts = facts(answer);
    Optional<AnswerRule> rule = answer.findRule(status.rules());
    if (rule.isPresent()) {
      String reason = rule.get().reason();
      return switch (rule.get().means()) {
        case COMMITTED, SUCCEEDED -> committed(status, answer, facts);
        case ABSENT, NOT_ACCEPTED, TERMINAL -> new StatusAnswer.Absent(reason, facts);
        case UNKNOWN ->
            new StatusAnswer.Undetermined(reason == null ? "ANSWER_RULE" : reason, facts);
      };
    }
    if (status.absent().contains(answer.status())) {
      return new StatusAnswer.Absent(null, facts);
    }
    if (!status.expected().contains(answer.status())) {
      return new StatusAnswer.Undetermined("STATUS_UNEXPECTED", facts);
    }
    if (status.found() == null || answer.find(status.found()).isPresent()) {
      return status.state() == null
          ? committed(status, answer, facts)
          : judgeState(status, status.state(), answer, facts);
    }
    // A body that is not even JSON says nothing about the effect.
    return status.emptyIsAbsent() && answer.isJson()
        ? new StatusAnswer.Absent(null, facts)
        : new StatusAnswer.Undetermined("STATUS_NOT_FOUND_IN_ANSWER", facts);
  }

  private StatusAnswer judgeState(
      StatusRead status, StateMember member, HttpAnswer answer, CallFacts facts) {
    String state = answer.findValue(member.path()).orElse("");
    if (member.committed().contains(state)) {
      return committed(status, answer, facts);
    }
    return member.absent().contains(state)
        ? new StatusAnswer.Absent("STATE_ABSENT", facts)
        : new StatusAnswer.Undetermined("STATE_UNDECIDED", facts);
  }

  private StatusAnswer committed(StatusRead status, HttpAnswer answer, CallFacts facts) {
    ResultBody body = answer.body().length == 0 ? null : ResultBody.of(answer.body());
    if (status.body() != null) {
      body = answer.find(status.body()).map(n -> ResultBody.text(n.toString())).orElse(null);
    }
    return new StatusAnswer.Committed(
        answer.findReference(status.reference(), null), body, contract.resultSchema(), facts);
  }

  private CallFacts facts(HttpAnswer answer) {
    return new CallFacts(answer.status(), 1, answer.findRetryAfter(clock.instant()));
  }

  private HttpRequest request(ToolCommand command) {
    if (command.precondition() != null && !contract.sendsPrecondition()) {
      // Without it the effect would take place on whatever the resource has become.
      throw new UnfitException("PRECONDITION_UNSUPPORTED");
    }
    TemplateValues values = new TemplateValues(command);
    String url = contract.url().fillUrl(values);
    JsonNode fields = null;
    if (contract.sendBody()
        && (contract.content() == HttpContract.Content.FORM
            || contract.body() != null
            || hasField(contract.key())
            || hasField(contract.precondition()))) {
      fields =
          contract.body() == null ? values.arguments().deepCopy() : values.fill(contract.body());
    }
    HttpRequest.Builder builder = HttpRequest.newBuilder().timeout(contract.timeouts().firstByte());
    if (contract.sendBody()) {
      builder.setHeader(
          "Content-Type",
          contract.content() == HttpContract.Content.FORM
              ? "application/x-www-form-urlencoded"
              : "application/json");
    }
    for (Map.Entry<String, Template> header : contract.headers().entrySet()) {
      setHeader(builder, header.getKey(), header.getValue().fill(values));
    }
    KeyPlace key = contract.key();
    if (key != null && command.kind() == ToolCommand.Kind.EXECUTE) {
      url = put(builder, url, fields, key.place(), fittedKey(key, command.downstreamKey()));
    }
    if (contract.precondition() != null && command.precondition() != null) {
      url = put(builder, url, fields, contract.precondition(), command.precondition());
    }
    builder.uri(allowed(url));
    if (!contract.sendBody()) {
      return builder.method(contract.method(), BodyPublishers.noBody()).build();
    }
    String body;
    try {
      body =
          fields == null
              ? command.arguments()
              : contract.content() == HttpContract.Content.FORM
                  ? FormBody.of(fields)
                  : Json.EXACT.writeValueAsString(fields);
    } catch (JsonProcessingException e) {
      throw new UnfitException("REQUEST_INVALID");
    }
    return builder.method(contract.method(), BodyPublishers.ofString(body)).build();
  }

  private static boolean hasField(@Nullable KeyPlace key) {
    return key != null && hasField(key.place());
  }

  private static boolean hasField(@Nullable Place place) {
    return place != null && place.field() != null;
  }

  /** The key as it is: a key that was cut to fit could be another operation's. */
  private static String fittedKey(KeyPlace place, @Nullable String key) {
    if (key == null
        || key.isEmpty()
        || key.length() > place.limit()
        || !place.charset().matcher(key).matches()) {
      throw new UnfitException("KEY_DOES_NOT_FIT");
    }
    return place.quoted() ? '"' + key + '"' : key;
  }

  /** Puts a value where the contract says and returns the URL. */
  private static String put(
      HttpRequest.Builder builder,
      String url,
      @Nullable JsonNode fields,
      Place place,
      String value) {
    if (place.header() != null) {
      setHeader(builder, place.header(), value);
    } else if (place.query() != null) {
      return url
          + (url.indexOf('?') < 0 ? '?' : '&')
          + place.query()
          + '='
          + URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    } else if (place.field() != null) {
      JsonPointer field = place.field();
      JsonNode parent = fields == null ? null : fields.at(field.head());
      if (!(parent instanceof ObjectNode object)) {
        throw new UnfitException("KEY_FIELD_NOT_AN_OBJECT");
      }
      object.put(field.last().getMatchingProperty(), value);
    }
    return url;
  }

  /** The client writes {@code ?} for what is not ASCII, so that two values could become one. */
  private static void setHeader(HttpRequest.Builder builder, String name, String value) {
    if (!HttpContract.ASCII.matcher(value).matches()) {
      throw new UnfitException("REQUEST_INVALID");
    }
    builder.setHeader(name, value);
  }

  private URI allowed(String url) {
    URI uri = URI.create(url);
    String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
    if (uri.getHost() == null
        || uri.getUserInfo() != null
        || !contract.hosts().contains(HttpRemotes.hostAndPort(uri))) {
      throw new UnfitException("HOST_NOT_ALLOWED");
    }
    if (!scheme.equals("https")
        && !(scheme.equals("http")
            && (contract.plainHttp() || HttpRemotes.isLoopback(uri.getHost())))) {
      throw new UnfitException("TLS_REQUIRED");
    }
    return uri;
  }

  private HttpAnswer send(HttpRequest request) throws InterruptedException, NoAnswerException {
    Duration total = contract.timeouts().total();
    // On the stack, so that an answer that breaks off still tells its status.
    @Nullable Integer[] status = new Integer[1];
    CompletableFuture<HttpResponse<byte[]>> sent =
        client.sendAsync(
            request,
            head -> {
              status[0] = head.statusCode();
              return new LimitedBody(contract.responseLimit());
            });
    try {
      HttpResponse<byte[]> response = sent.get(total.toNanos(), TimeUnit.NANOSECONDS);
      return new HttpAnswer(response.statusCode(), response.headers(), response.body());
    } catch (TimeoutException e) {
      sent.cancel(true);
      throw new NoAnswerException("TOTAL_TIMEOUT", false, status[0]);
    } catch (InterruptedException e) {
      sent.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      throw noAnswer(e.getCause() == null ? e : e.getCause(), status[0]);
    }
  }

  private static NoAnswerException noAnswer(Throwable failure, @Nullable Integer status) {
    if (failure instanceof ConnectException) {
      for (Throwable t = failure; t != null; t = t.getCause()) {
        if (t instanceof UnresolvedAddressException) {
          return new NoAnswerException("HOST_UNRESOLVED", true, null);
        }
      }
      return new NoAnswerException("CONNECT_REFUSED", true, null);
    }
    if (failure instanceof HttpConnectTimeoutException) {
      // The timer of the client may fire while the connection comes up and the request leaves.
      return new NoAnswerException("CONNECT_TIMEOUT", false, null);
    }
    if (failure instanceof HttpTimeoutException) {
      return new NoAnswerException("FIRST_BYTE_TIMEOUT", false, status);
    }
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof LimitedBody.TooLargeException) {
        return new NoAnswerException("RESPONSE_TOO_LARGE", false, status);
      }
      if (t instanceof SSLException) {
        return new NoAnswerException("TLS_FAILED", false, status);
      }
    }
    return new NoAnswerException(
        status == null ? "CONNECTION_LOST" : "ANSWER_INCOMPLETE", false, status);
  }

  /** The request can't be built from this command; nothing was sent. */
  private static final class UnfitException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final String reason;

    UnfitException(String reason) {
      super(reason);
      this.reason = reason;
    }
  }

  private static final class NoAnswerException extends Exception {
    private static final long serialVersionUID = 1L;
    private final String reason;
    private final boolean notSent;
    private final @Nullable Integer status;

    NoAnswerException(String reason, boolean notSent, @Nullable Integer status) {
      super(reason);
      this.reason = reason;
      this.notSent = notSent;
      this.status = status;
    }

    CallFacts facts() {
      return new CallFacts(status, notSent ? 0 : 1, null);
    }
  }
}
