package dev.ichido.executor.http;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.executor.ExecutorException;
import dev.ichido.executor.http.HttpContract.AnswerRule;
import dev.ichido.executor.http.HttpContract.KeyPlace;
import dev.ichido.executor.http.HttpContract.Meaning;
import dev.ichido.executor.http.HttpContract.Place;
import dev.ichido.executor.http.HttpContract.StateMember;
import dev.ichido.executor.http.HttpContract.StatusRead;
import dev.ichido.executor.http.HttpContract.Timeouts;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the {@code http} member of the policy's actions.
 *
 * <pre>
 * http:
 *   remote: ledger                      # name; default: host:port
 *   method: POST
 *   url: https://ledger.example/v1/transfers/{arguments.account}   # no place in the host
 *   hosts: [ledger.example:443]         # of url and status.url; default: the host of the url
 *   plain_http: false                   # true: no TLS to a host that is not loopback
 *   trust: /etc/ledger/ca.pem           # default: the JVM's certificates
 *   headers: { Authorization: "Bearer ..." }
 *   body: { amount: "{arguments.amount}" }    # default: the arguments as they are; none: no body
 *   content: json                       # or form
 *   key: { header: Idempotency-Key, limit: 255, charset: "[A-Za-z0-9_-]+", quoted: false }
 *   precondition: { header: If-Match }  # or field: /generation, or query: ifGenerationMatch
 *   timeouts: { connect: 2s, first_byte: 10s, total: 30s }
 *   answers:
 *     expected: [200, 201, 204]         # a 202 may still come to nothing
 *     not_accepted: [429]               # prove that nothing was done
 *     terminal: [400, 404, 422]         # refused for good, without an effect
 *     rules: [ { status: [409], path: $.error.code, in: [in_use], means: UNKNOWN, reason: KEY_IN_FLIGHT } ]
 *   reference: $.id                     # or reference_header: Location
 *   result_schema: 1                    # version of the result's form, kept and replayed with it
 *   response_limit: 4194304
 *   status:                             # how to ask what happened
 *     url: https://ledger.example/v1/transfers?key={key}
 *     expected: [200]
 *     absent: [404]
 *     found: $.data[0]                  # JSONPath, as everywhere in an answer
 *     empty_is_absent: true
 *     state: { path: "$.data[0].status", committed: [paid], absent: [failed] }
 *     reference: $.data[0].id
 *     body: $.data[0]
 * </pre>
 */
public final class ExecutorContracts {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");
  private static final Pattern LITERAL_URL = Pattern.compile("https?://[^/?#]+([/?#].*)?");
  private static final Pattern TEMPLATE_URL = Pattern.compile("https?://[^/?#]+[/?#].*");

  /** Our keys are digests of at most so many characters. */
  private static final int LONGEST_KEY = 64;

  private static final Set<String> METHODS = Set.of("POST", "PUT", "PATCH", "DELETE", "GET");

  private ExecutorContracts() {}

  /**
   * The contracts of the actions that have one, by action.
   *
   * @param actions the policy's {@code actions}; members other than {@code effect} and {@code http}
   *     are not looked at
   * @throws ExecutorException CONTRACT_INVALID or TLS_REQUIRED with the action and the member
   */
  public static Map<String, HttpContract> parse(JsonNode actions) {
    Map<String, HttpContract> contracts = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> action : actions.properties()) {
      JsonNode http = action.getValue().path("http");
      if (!http.isMissingNode() && !http.isNull()) {
        boolean write = !"read".equals(action.getValue().path("effect").asText("write"));
        contracts.put(
            action.getKey(),
            contract(new Member("actions." + action.getKey() + ".http", http), write));
      }
    }
    return contracts;
  }

  /**
   * Refuses a contract that does not do what the policy of its action relies on.
   *
   * @param writes what the remotes promise, by action that has an effect
   * @throws ExecutorException CONTRACT_INVALID with the action and the member
   */
  public static void requireFit(
      Map<String, HttpContract> contracts, Map<String, ActionPolicy.Remote> writes) {
    contracts.forEach(
        (action, contract) -> {
          ActionPolicy.Remote remote = writes.get(action);
          if (remote != null) {
            requireFit("actions." + action + ".http.key", contract, remote);
          }
        });
  }

  private static void requireFit(String where, HttpContract contract, ActionPolicy.Remote remote) {
    if (remote.dedupesOnKey() && !contract.sendsKey()) {
      throw ExecutorException.contractInvalid(
          where,
          "Expected a place for the key that the remote dedupes on, but there is none, and a"
              + " second request would be a second effect. Say where it goes, or set"
              + " remote.dedupes_on_key: false.");
    }
    KeyPlace key = contract.key();
    if (key != null && key.limit() < Math.min(remote.keyLimit(), LONGEST_KEY)) {
      throw ExecutorException.contractInvalid(
          where + ".limit",
          "Expected at least remote.key_limit, to which the keys are made, but it is less. Set both"
              + " to what the remote takes.");
    }
  }

  private static HttpContract contract(Member http, boolean write) {
    http.allow(
        "remote",
        "method",
        "url",
        "hosts",
        "plain_http",
        "trust",
        "headers",
        "body",
        "key",
        "content",
        "precondition",
        "timeouts",
        "answers",
        "reference",
        "reference_header",
        "result_schema",
        "response_limit",
        "status");
    String method = http.text("method", write ? "POST" : "GET").toUpperCase(Locale.ROOT);
    if (!METHODS.contains(method)) {
      throw http.invalid("method", "one of POST, PUT, PATCH, DELETE and GET");
    }
    if (write && method.equals("GET")) {
      throw http.invalid(
          "method", "another one than GET for a write: HTTP clients and proxies repeat a GET");
    }
    Template url = http.template("url");
    Set<String> hosts = hosts(http, url);
    JsonNode bodyNode = http.node.path("body");
    boolean noBody = bodyNode.isTextual() && bodyNode.textValue().equals("none");
    boolean sendBody =
        !noBody && !method.equals("GET") && (!method.equals("DELETE") || !bodyNode.isMissingNode());
    JsonNode body = noBody || bodyNode.isMissingNode() || bodyNode.isNull() ? null : bodyNode;
    if (body != null) {
      checkTemplates(http, body);
    }
    Member answers = http.object("answers");
    answers.allow("expected", "not_accepted", "terminal", "rules");
    StatusSet expected = answers.statuses("expected", List.of("200", "201", "204"));
    StatusSet notAccepted = answers.statuses("not_accepted", List.of());
    StatusSet terminal = answers.statuses("terminal", List.of());
    if (expected.intersects(notAccepted)
        || expected.intersects(terminal)
        || notAccepted.intersects(terminal)) {
      throw http.invalid("answers", "lists without a status in common");
    }
    List<AnswerRule> rules =
        rules(
            answers,
            EnumSet.of(Meaning.SUCCEEDED, Meaning.NOT_ACCEPTED, Meaning.TERMINAL, Meaning.UNKNOWN));
    KeyPlace key = key(http);
    Place precondition = place(http, "precondition");
    if (!sendBody
        && ((key != null && key.place().field() != null)
            || (precondition != null && precondition.field() != null))) {
      throw http.invalid("key", "a header or a query parameter where no body is sent");
    }
    return new HttpContract(
        http.text("remote", hosts.iterator().next()),
        method,
        url,
        hosts,
        http.flag("plain_http"),
        trust(http),
        headers(http),
        body,
        sendBody,
        content(http),
        key,
        precondition,
        timeouts(http),
        rules,
        expected,
        notAccepted,
        terminal,
        http.path("reference"),
        http.findText("reference_header"),
        http.node.has("result_schema")
            ? http.number("result_schema", 1, 1, Integer.MAX_VALUE)
            : null,
        http.number("response_limit", 4 << 20, 1, 64 << 20),
        status(http, hosts));
  }

  private static @Nullable Path trust(Member http) {
    String file = http.findText("trust");
    if (file == null) {
      return null;
    }
    try {
      return Path.of(file);
    } catch (InvalidPathException e) {
      throw http.invalid("trust", "a path of a PEM file");
    }
  }

  private static HttpContract.Content content(Member http) {
    return switch (http.text("content", "json")) {
      case "json" -> HttpContract.Content.JSON;
      case "form" -> HttpContract.Content.FORM;
      default -> throw http.invalid("content", "json or form");
    };
  }

  private static Set<String> hosts(Member http, Template url) {
    Set<String> hosts = new LinkedHashSet<>();
    for (String host : http.texts("hosts", List.of())) {
      if (!host.matches("(\\[[0-9a-fA-F:]+]|[A-Za-z0-9.-]+):\\d{1,5}")) {
        throw http.invalid("hosts", "a list of host:port");
      }
      hosts.add(host.toLowerCase(Locale.ROOT));
    }
    URI sample = sample(http, url);
    if (hosts.isEmpty()) {
      hosts.add(HttpRemotes.hostAndPort(sample));
    }
    requireAllowed(http, hosts, http.flag("plain_http"), sample);
    return hosts;
  }

  /** The URL with something in its places; its host has none, since a value could lead anywhere. */
  private static URI sample(Member member, Template url) {
    URI sample;
    try {
      sample = URI.create(url.filledWith("x"));
    } catch (IllegalArgumentException e) {
      throw member.invalid("url", "an http or https URL");
    }
    if (!(url.isLiteral() ? LITERAL_URL : TEMPLATE_URL).matcher(url.literalPrefix()).matches()
        || sample.getHost() == null
        || sample.getUserInfo() != null) {
      throw member.invalid("url", "http or https at a host without a place and without a user");
    }
    return sample;
  }

  private static void requireAllowed(
      Member member, Set<String> hosts, boolean plainHttp, URI sample) {
    if (!hosts.contains(HttpRemotes.hostAndPort(sample))) {
      throw member.invalid("url", "at one of the hosts of the contract");
    }
    requireTls(member, "url", plainHttp, sample);
  }

  private static void requireTls(Member member, String name, boolean plainHttp, URI base) {
    if ("http".equals(base.getScheme()) && !plainHttp && !HttpRemotes.isLoopback(base.getHost())) {
      throw ExecutorException.tlsRequired(member.path + "." + name);
    }
  }

  private static @Nullable KeyPlace key(Member http) {
    Place place = place(http, "key");
    if (place == null) {
      return null;
    }
    Member key = http.object("key");
    Pattern charset;
    try {
      charset = Pattern.compile(key.text("charset", "[\\x21-\\x7E]+"));
    } catch (PatternSyntaxException e) {
      throw http.invalid("key.charset", "a regular expression");
    }
    return new KeyPlace(place, key.number("limit", 255, 1, 4096), charset, key.flag("quoted"));
  }

  private static @Nullable Place place(Member http, String name) {
    if (http.node.path(name).isMissingNode() || http.node.path(name).isNull()) {
      return null;
    }
    Member place = http.object(name);
    if (name.equals("key")) {
      place.allow("header", "field", "query", "limit", "charset", "quoted");
    } else {
      place.allow("header", "field", "query");
    }
    String header = place.findText("header");
    JsonPointer field = place.pointer("field");
    String query = place.findText("query");
    int given = (header == null ? 0 : 1) + (field == null ? 0 : 1) + (query == null ? 0 : 1);
    if (given != 1 || (field != null && field.matches())) {
      throw http.invalid(name, "one of header, field and query");
    }
    if (header != null) {
      requireSettable(place, "header", header, "x");
    }
    return new Place(header, field, query);
  }

  /** What the client does not let one set would fail each call. */
  private static void requireSettable(Member member, String where, String header, String value) {
    if (!HttpContract.ASCII.matcher(value).matches()) {
      throw member.invalid(where, "a value in visible ASCII");
    }
    try {
      HttpRequest.newBuilder().setHeader(header, value);
    } catch (IllegalArgumentException e) {
      throw member.invalid(where, "a header that can be set, with a value that one can carry");
    }
  }

  private static Map<String, Template> headers(Member member) {
    Map<String, Template> headers = new LinkedHashMap<>();
    Member given = member.object("headers");
    for (String name : given.names()) {
      Template value = given.template(name);
      requireSettable(given, name, name, value.filledWith("x"));
      headers.put(name, value);
    }
    return headers;
  }

  private static Timeouts timeouts(Member http) {
    Member timeouts = http.object("timeouts");
    timeouts.allow("connect", "first_byte", "total");
    Duration connect = timeouts.duration("connect", Duration.ofSeconds(2));
    Duration firstByte = timeouts.duration("first_byte", Duration.ofSeconds(10));
    Duration total = timeouts.duration("total", Duration.ofSeconds(30));
    if (total.compareTo(firstByte) < 0) {
      throw http.invalid("timeouts.total", "at least first_byte");
    }
    return new Timeouts(connect, firstByte, total);
  }

  private static @Nullable StatusRead status(Member http, Set<String> hosts) {
    if (http.node.path("status").isMissingNode() || http.node.path("status").isNull()) {
      return null;
    }
    Member status = http.object("status");
    status.allow(
        "method",
        "url",
        "headers",
        "expected",
        "absent",
        "found",
        "empty_is_absent",
        "state",
        "reference",
        "body",
        "rules");
    String method = status.text("method", "GET").toUpperCase(Locale.ROOT);
    if (!method.equals("GET")) {
      throw status.invalid("method", "GET: a status read must have no effect");
    }
    Template url = status.template("url");
    requireAllowed(status, hosts, http.flag("plain_http"), sample(status, url));
    StatusSet expected = status.statuses("expected", List.of("200"));
    StatusSet absent = status.statuses("absent", List.of());
    if (expected.intersects(absent)) {
      throw status.invalid("absent", "without a status of expected");
    }
    return new StatusRead(
        method,
        url,
        headers(status),
        rules(status, EnumSet.of(Meaning.COMMITTED, Meaning.ABSENT, Meaning.UNKNOWN)),
        expected,
        absent,
        status.path("found"),
        status.flag("empty_is_absent"),
        state(status),
        status.path("reference"),
        status.path("body"));
  }

  private static @Nullable StateMember state(Member status) {
    if (status.node.path("state").isMissingNode() || status.node.path("state").isNull()) {
      return null;
    }
    Member state = status.object("state");
    state.allow("path", "committed", "absent");
    AnswerPath path = state.path("path");
    Set<String> committed = Set.copyOf(state.texts("committed", List.of()));
    Set<String> absent = Set.copyOf(state.texts("absent", List.of()));
    if (path == null) {
      throw state.invalid("path", "given");
    }
    if (committed.isEmpty()) {
      throw state.invalid("committed", "a list of the values that say that it is done");
    }
    if (!Collections.disjoint(committed, absent)) {
      throw state.invalid("absent", "without a value of committed");
    }
    return new StateMember(path, committed, absent);
  }

  private static List<AnswerRule> rules(Member member, Set<Meaning> allowed) {
    List<AnswerRule> rules = new ArrayList<>();
    JsonNode nodes = member.node.path("rules");
    if (!nodes.isMissingNode() && !nodes.isArray()) {
      throw member.invalid("rules", "a list");
    }
    for (int i = 0; i < nodes.size(); i++) {
      Member rule = new Member(member.path + ".rules." + i, nodes.get(i));
      rule.allow("status", "path", "header", "in", "means", "reason");
      Meaning means;
      try {
        means = Meaning.valueOf(rule.text("means", "").toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw rule.invalid("means", "one of " + allowed);
      }
      if (!allowed.contains(means)) {
        throw rule.invalid("means", "one of " + allowed);
      }
      AnswerPath path = rule.path("path");
      String header = rule.findText("header");
      List<String> values = rule.texts("in", List.of());
      if ((path != null && header != null)
          || (path == null && header == null && !values.isEmpty())) {
        throw rule.invalid("in", "with either a path or a header");
      }
      rules.add(
          new AnswerRule(
              rule.statuses("status", List.of("1xx", "2xx", "3xx", "4xx", "5xx")),
              path,
              header,
              Set.copyOf(values),
              means,
              rule.findText("reason")));
    }
    return List.copyOf(rules);
  }

  private static void checkTemplates(Member http, JsonNode body) {
    if (body.isTextual()) {
      try {
        Template.parse(body.textValue());
      } catch (IllegalArgumentException e) {
        throw http.invalid("body", "a JSON template. " + e.getMessage());
      }
    }
    body.forEach(child -> checkTemplates(http, child));
  }

  /** One object of the contract, with its path for messages. */
  private record Member(String path, JsonNode node) {
    private Member {
      if (!node.isObject()) {
        throw ExecutorException.contractInvalid(
            path, "Expected an object, but it is none. Check the contract.");
      }
    }

    ExecutorException invalid(String name, String expected) {
      return ExecutorException.contractInvalid(
          path + "." + name, "Expected " + expected + ", but it is not. Check the contract.");
    }

    void allow(String... names) {
      Set<String> known = Set.of(names);
      for (String name : names()) {
        if (!known.contains(name)) {
          throw ExecutorException.contractInvalid(
              path + "." + name,
              "Expected one of "
                  + List.of(names)
                  + ", but the member is unknown. Check its spelling.");
        }
      }
    }

    List<String> names() {
      List<String> names = new ArrayList<>();
      node.fieldNames().forEachRemaining(names::add);
      return names;
    }

    Member object(String name) {
      JsonNode child = node.path(name);
      return new Member(
          path + "." + name, child.isMissingNode() || child.isNull() ? emptyObject() : child);
    }

    private static ObjectNode emptyObject() {
      return Json.EXACT.createObjectNode();
    }

    @Nullable String findText(String name) {
      JsonNode child = node.path(name);
      if (child.isMissingNode() || child.isNull()) {
        return null;
      }
      if (!child.isTextual() || child.textValue().isBlank()) {
        throw invalid(name, "a text");
      }
      return child.textValue();
    }

    String text(String name, String byDefault) {
      String text = findText(name);
      return text == null ? byDefault : text;
    }

    Template template(String name) {
      String text = findText(name);
      if (text == null) {
        throw invalid(name, "given");
      }
      try {
        return Template.parse(text);
      } catch (IllegalArgumentException e) {
        throw invalid(name, "a template. " + e.getMessage());
      }
    }

    boolean flag(String name) {
      JsonNode child = node.path(name);
      if (!child.isMissingNode() && !child.isBoolean()) {
        throw invalid(name, "true or false");
      }
      return child.asBoolean(false);
    }

    int number(String name, int byDefault, int min, int max) {
      JsonNode child = node.path(name);
      if (child.isMissingNode()) {
        return byDefault;
      }
      if (!child.isIntegralNumber()
          || !child.canConvertToInt()
          || child.intValue() < min
          || child.intValue() > max) {
        throw invalid(name, "a number of " + min + " to " + max);
      }
      return child.intValue();
    }

    Duration duration(String name, Duration byDefault) {
      String text = findText(name);
      if (text == null) {
        return byDefault;
      }
      Matcher matcher = DURATION.matcher(text);
      if (!matcher.matches()) {
        throw invalid(name, "a duration such as 500ms or 10s");
      }
      long amount = Long.parseLong(matcher.group(1));
      Duration duration =
          switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            case "h" -> Duration.ofHours(amount);
            default -> Duration.ofDays(amount);
          };
      if (duration.isZero() || duration.compareTo(Duration.ofDays(1)) > 0) {
        throw invalid(name, "above zero and at most 1d");
      }
      return duration;
    }

    @Nullable JsonPointer pointer(String name) {
      String text = findText(name);
      if (text == null) {
        return null;
      }
      try {
        return JsonPointer.compile(text);
      } catch (IllegalArgumentException e) {
        throw invalid(name, "a JSON pointer such as /data/0/id");
      }
    }

    @Nullable AnswerPath path(String name) {
      String text = findText(name);
      if (text == null) {
        return null;
      }
      try {
        return AnswerPath.compile(text);
      } catch (IllegalArgumentException e) {
        throw invalid(name, "a JSONPath such as $.data[0].id");
      }
    }

    List<String> texts(String name, List<String> byDefault) {
      JsonNode child = node.path(name);
      if (child.isMissingNode() || child.isNull()) {
        return byDefault;
      }
      List<String> texts = new ArrayList<>();
      if (child.isValueNode()) {
        texts.add(child.asText());
      } else if (child.isArray()) {
        child.forEach(element -> texts.add(element.asText()));
      } else {
        throw invalid(name, "a list");
      }
      return texts;
    }

    StatusSet statuses(String name, List<String> byDefault) {
      try {
        return StatusSet.of(texts(name, byDefault));
      } catch (IllegalArgumentException e) {
        throw invalid(name, "a list of statuses. " + e.getMessage());
      }
    }
  }
}
