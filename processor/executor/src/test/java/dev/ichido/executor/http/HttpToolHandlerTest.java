package dev.ichido.executor.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.executor.Commands;
import dev.ichido.executor.ExecutorException;
import dev.ichido.executor.StatusAnswer;
import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.ToolOutcome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpToolHandlerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Clock CLOCK =
      Clock.fixed(Instant.parse("2026-01-01T00:00:00Z"), ZoneOffset.UTC);

  private final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void closeAll() throws Exception {
    for (AutoCloseable closeable : open.reversed()) {
      closeable.close();
    }
  }

  /**
   * The server reads the second request of each connection and closes. A client that repeats by
   * itself would do the write again, behind our back.
   */
  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "PATCH", "DELETE"})
  @Tag("FR-12")
  void aWriteIsNotRepeatedWhenAKeptConnectionIsClosed(String method) throws Exception {
    ScriptedServer server = scripted(2);
    ToolHandler handler = handler("{'url':'%s/x','method':'%s'}".formatted(server.url(), method));
    assertThat(handler.execute(Commands.execute("op", "{}")))
        .isInstanceOf(ToolOutcome.Succeeded.class);
    ToolOutcome second = handler.execute(Commands.execute("op", "{}"));
    assertThat(reason(second)).isEqualTo("Unknown CONNECTION_LOST");
    assertThat(server.requests()).hasSize(2);
  }

  /** The control: the same client does repeat a GET, so the test above can fail. */
  @Test
  void theClientRepeatsAGetWhichIsWhyAWriteMayNotUseIt() throws Exception {
    ScriptedServer server = scripted(2);
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(server.url())).build();
      client.send(request, HttpResponse.BodyHandlers.ofString());
      client.send(request, HttpResponse.BodyHandlers.ofString());
    }
    assertThat(server.requests()).hasSize(3);
    assertThatThrownBy(() -> handler("{'url':'%s','method':'GET'}".formatted(server.url())))
        .isInstanceOf(ExecutorException.class)
        .hasMessageContaining("actions.pay.transfer.http.method");
  }

  @Test
  void aJvmThatIsSetToRepeatEverythingIsRefused() {
    System.setProperty("jdk.httpclient.enableAllMethodRetry", "true");
    try {
      assertThatThrownBy(() -> HttpRemotes.of(Map.of(), CLOCK))
          .isInstanceOfSatisfying(
              ExecutorException.class, e -> assertThat(e.code()).isEqualTo("HIDDEN_RETRY"));
    } finally {
      System.clearProperty("jdk.httpclient.enableAllMethodRetry");
    }
  }

  @Test
  void aRefusedConnectionProvesThatNothingWasSent() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    ToolOutcome outcome =
        handler("{'url':'http://127.0.0.1:%d/x'}".formatted(port))
            .execute(Commands.execute("op", "{}"));
    assertThat(reason(outcome)).isEqualTo("FailedRetryable CONNECT_REFUSED");
    assertThat(outcome.facts().remoteCalls()).isZero();
  }

  /** A value counts also where it is one that says no; without values the member has to say yes. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'ok':false} | 'in':['false'], | FailedTerminal SAID_NO",
        "{'ok':true}  | 'in':['false'], | Succeeded",
        "{'ok':0}     | 'in':['0'],     | FailedTerminal SAID_NO",
        "{'ok':''}    | 'in':[''],      | FailedTerminal SAID_NO",
        "{'ok':[]}    | 'in':[''],      | Succeeded",
        "{'ok':[1]}   | 'in':[''],      | Succeeded",
        "{'ok':null}  | 'in':['null'],  | Succeeded",
        "{}           | 'in':[''],      | Succeeded",
        "{'ok':false} |                 | Succeeded",
        "{'ok':[1]}   |                 | FailedTerminal SAID_NO",
      })
  void aRuleOnAValueFitsWhateverTheValueSays(String body, @Nullable String values, String expected)
      throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(200, body.replace('\'', '"'), "X: y");
    ToolOutcome result =
        handler(
                """
                {'url':'%s/x','answers':{
                 'rules':[{'status':['200'],'path':'$.ok',%s'means':'TERMINAL','reason':'SAID_NO'}]}}
                """
                    .formatted(server.url(), values == null ? "" : values))
            .execute(Commands.execute("op", "{}"));
    assertThat(reason(result)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "200, x, Succeeded",
    "400, x, Unknown STATUS_UNEXPECTED",
    "404, x, Unknown STATUS_UNEXPECTED",
    "409, in_use, Unknown KEY_IN_FLIGHT",
    "409, gone, FailedTerminal REFUSED_BY_REMOTE",
    "422, x, FailedTerminal REFUSED_BY_REMOTE",
    "429, x, FailedRetryable NOT_ACCEPTED",
    "500, x, Unknown STATUS_UNEXPECTED",
    "503, x, Unknown STATUS_UNEXPECTED",
    "307, x, Unknown REDIRECT_NOT_FOLLOWED",
  })
  void anAnswerMeansWhatTheContractSaysAndElseNothing(int status, String code, String expected)
      throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(status, "{\"error\":{\"code\":\"" + code + "\"}}", "Retry-After: 3");
    ToolOutcome result =
        handler(
                """
                {'url':'%s/x','answers':{'not_accepted':['429'],'terminal':['409','422'],
                 'rules':[{'status':['409'],'path':'$.error.code','in':['in_use'],
                           'means':'UNKNOWN','reason':'KEY_IN_FLIGHT'}]}}
                """
                    .formatted(server.url()))
            .execute(Commands.execute("op", "{}"));
    assertThat(reason(result)).isEqualTo(expected);
    assertThat(result.facts().remoteStatus()).isEqualTo(status);
    assertThat(result.facts().retryAfter()).isEqualTo(Duration.ofSeconds(3));
    assertThat(server.requests()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Thu, 01 Jan 2026 00:00:30 GMT | 30",
        "Wed, 31 Dec 2025 00:00:00 GMT | 0",
        "120 | 120",
        "99999999999999999999 | 86400",
      })
  void retryAfterIsReadInBothForms(String header, long seconds) throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(503, "", "Retry-After: " + header);
    assertThat(
            handler("{'url':'%s/x'}".formatted(server.url()))
                .execute(Commands.execute("op", "{}"))
                .facts()
                .retryAfter())
        .isEqualTo(Duration.ofSeconds(seconds));
  }

  @Test
  void argumentsTravelAsTheyWereWritten() throws Exception {
    ScriptedServer server = scripted(99);
    String arguments = "{\"b\":1.0, \"a\":1e2,\"big\":123456789012345678901234567890.10}";
    handler("{'url':'%s/x'}".formatted(server.url())).execute(Commands.execute("op", arguments));
    assertThat(server.requests().getFirst().body()).isEqualTo(arguments);
  }

  @Test
  void aTemplateReadsArgumentsThatTheProcessorLetThrough() throws Exception {
    ScriptedServer server = scripted(99);
    String arguments = "{\"" + "n".repeat(900_000) + "\":1,\"to\":\"b\"}";
    handler("{'url':'%s/{arguments.to}'}".formatted(server.url()))
        .execute(Commands.execute("op", arguments));
    assertThat(server.requests().getFirst().line()).isEqualTo("POST /b HTTP/1.1");
  }

  @Test
  void templatesFillUrlHeadersAndBodyAndKeepTypesAndDigits() throws Exception {
    ScriptedServer server = scripted(99);
    handler(
            """
            {'url':'%s/a/{arguments.to}?t={target}','headers':{'X-Tenant':'{tenant}'},
             'body':{'n':'{arguments.n}','s':'for {arguments.to}','o':'{arguments.o}',
                     'gone':'{arguments.absent}'},
             'key':{'field':'/request_id'}}
            """
                .formatted(server.url()))
        .execute(
            Commands.execute(
                "op", "{\"to\":\"a/../b?c=d&e #%\",\"n\":100.10,\"o\":{\"k\":[1,null]}}"));
    ScriptedServer.Request request = server.requests().getFirst();
    assertThat(request.line())
        .isEqualTo("POST /a/a%2F..%2Fb%3Fc%3Dd%26e%20%23%25?t=acct%3A1 HTTP/1.1");
    assertThat(request.headers()).contains("x-tenant: t1");
    assertThat(request.body())
        .isEqualTo(
            "{\"n\":100.10,\"s\":\"for a/../b?c=d&e #%\",\"o\":{\"k\":[1,null]},"
                + "\"request_id\":\"key-op\"}");
  }

  /** The client would write each of these as a question mark, and two payers would be one. */
  @ParameterizedTest
  @ValueSource(strings = {"Jos\u00e9", "\u4e00", "a\u0080b", "a\u007fb"})
  void aHeaderThatIsNotAsciiIsNotSent(String payer) throws Exception {
    ScriptedServer server = scripted(99);
    ToolHandler handler =
        handler("{'url':'%s/x','headers':{'X-Payer':'{arguments.payer}'}}".formatted(server.url()));
    String arguments = JSON.createObjectNode().put("payer", payer).toString();
    assertThat(reason(handler.execute(Commands.execute("op", arguments))))
        .isEqualTo("FailedTerminal REQUEST_INVALID");
    assertThat(server.requests()).isEmpty();
  }

  @Test
  void theKeyGoesWhereTheContractSays() throws Exception {
    ScriptedServer server = scripted(99);
    for (String key :
        List.of("{'header':'K'}", "{'header':'K','quoted':true}", "{'query':'requestId'}")) {
      handler("{'url':'%s/x','key':%s}".formatted(server.url(), key))
          .execute(Commands.execute("op", "{}"));
    }
    assertThat(server.requests().get(0).headers()).contains("k: key-op");
    assertThat(server.requests().get(1).headers()).contains("k: \"key-op\"");
    assertThat(server.requests().get(2).line()).isEqualTo("POST /x?requestId=key-op HTTP/1.1");
  }

  /** A key that was cut to fit could be another operation's; nothing is sent instead. */
  @ParameterizedTest
  @ValueSource(strings = {"{'header':'K','limit':5}", "{'header':'K','charset':'[0-9]+'}"})
  void aKeyThatDoesNotFitIsNotCut(String key) throws Exception {
    ScriptedServer server = scripted(99);
    assertThat(
            reason(
                handler("{'url':'%s/x','key':%s}".formatted(server.url(), key))
                    .execute(Commands.execute("op", "{}"))))
        .isEqualTo("FailedTerminal KEY_DOES_NOT_FIT");
    assertThat(server.requests()).isEmpty();
  }

  /** What the reader of contracts refuses is not called either when one is made in Java. */
  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:{port}/x, Succeeded",
    "http://localhost:{port}/x, FailedTerminal HOST_NOT_ALLOWED",
    "http://127.0.0.1:1/x, FailedTerminal HOST_NOT_ALLOWED",
    "http://user@127.0.0.1:{port}/x, FailedTerminal HOST_NOT_ALLOWED",
    "http://127.0.0.1:{port}@evil.example/x, FailedTerminal HOST_NOT_ALLOWED",
    "http://b.example/x, FailedTerminal TLS_REQUIRED",
    "ftp://b.example:80/x, FailedTerminal TLS_REQUIRED",
  })
  void onlyHostsOfTheContractAreCalled(String url, String expected) throws Exception {
    ScriptedServer server = scripted(99);
    HttpContract contract =
        contract("{'url':'%s/x','hosts':['127.0.0.1:%d','b.example:80']}", server);
    assertThat(
            reason(
                handler(at(url.replace("{port}", "" + server.port()), contract))
                    .execute(Commands.execute("op", "{}"))))
        .isEqualTo(expected);
    assertThat(server.requests()).hasSize(expected.equals("Succeeded") ? 1 : 0);
  }

  private static HttpContract contract(String http, ScriptedServer server) throws IOException {
    return Objects.requireNonNull(
        parse(http.formatted(server.url(), server.port())).get("pay.transfer"));
  }

  private static HttpContract at(String url, HttpContract c) {
    return new HttpContract(
        c.remote(),
        c.method(),
        Template.parse(url),
        c.hosts(),
        c.plainHttp(),
        c.trust(),
        c.headers(),
        c.body(),
        c.sendBody(),
        c.content(),
        c.key(),
        c.precondition(),
        c.timeouts(),
        c.rules(),
        c.expected(),
        c.notAccepted(),
        c.terminal(),
        c.reference(),
        c.referenceHeader(),
        c.resultSchema(),
        c.responseLimit(),
        c.status());
  }

  @Test
  void aRedirectIsNotFollowedAnywhere() throws Exception {
    ScriptedServer elsewhere = scripted(99);
    ScriptedServer server = scripted(99);
    for (int status : new int[] {301, 302, 303, 307, 308}) {
      server.answer(status, "", "Location: " + elsewhere.url() + "/x");
      ToolHandler handler = handler("{'url':'%1$s/x','status':{'url':'%1$s/x'}}", server);
      assertThat(reason(handler.execute(Commands.execute("op", "{}"))))
          .isEqualTo("Unknown REDIRECT_NOT_FOLLOWED");
      assertThat(handler.readStatus(Commands.reconcile("op", 1, false)))
          .isInstanceOf(StatusAnswer.Undetermined.class);
    }
    assertThat(server.requests()).hasSize(10);
    assertThat(elsewhere.requests()).isEmpty();
  }

  /**
   * What a remote sends unasked on a kept connection is not the answer to the next request, which
   * may find that connection closed instead.
   */
  @Test
  @Tag("FR-17")
  void anAnswerThatCameTwiceIsNotTakenForTheNextOne() throws Exception {
    ScriptedServer server = scripted(99);
    ToolHandler handler = handler("{'url':'%s/x','reference':'$.id'}", server);
    int succeeded = 0;
    for (int i = 0; i < 40; i++) {
      server.answer(200, "{\"id\":" + i + "}", "X: y");
      if (i % 2 == 0) {
        server.answerTwice();
      }
      ToolOutcome outcome = handler.execute(Commands.execute("op", "{}"));
      if (outcome instanceof ToolOutcome.Succeeded it) {
        assertThat(it.reference()).isEqualTo("" + i);
        succeeded++;
      } else {
        assertThat(reason(outcome)).isEqualTo("Unknown CONNECTION_LOST");
      }
    }
    assertThat(succeeded).isPositive();
  }

  @ParameterizedTest
  @CsvSource({"10, Succeeded", "11, Unknown RESPONSE_TOO_LARGE"})
  void noMoreOfAnAnswerIsReadThanTheContractWants(int bytes, String expected) throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(200, "x".repeat(bytes), "X: y");
    assertThat(
            reason(
                handler("{'url':'%s/x','response_limit':10}", server)
                    .execute(Commands.execute("op", "{}"))))
        .isEqualTo(expected);
  }

  /** A 202 says that something may be done later; other successes have happened. */
  @ParameterizedTest
  @CsvSource({
    "200, Succeeded",
    "201, Succeeded",
    "204, Succeeded",
    "202, Unknown STATUS_UNEXPECTED",
    "207, Unknown STATUS_UNEXPECTED",
  })
  void onlyWhatHasHappenedIsASuccessUnlessTheContractSaysMore(int status, String expected)
      throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(status, "", "X: y");
    assertThat(reason(handler("{'url':'%s/x'}", server).execute(Commands.execute("op", "{}"))))
        .isEqualTo(expected);
  }

  /** An effect on whatever the resource has become is not what was asked for. */
  @Test
  void aPreconditionThatTheContractDoesNotCarryIsNotLeftOut() throws Exception {
    ScriptedServer server = scripted(99);
    assertThat(
            reason(handler("{'url':'%s/x','status':{'url':'%1$s/x'}}", server).execute(IF_MATCH)))
        .isEqualTo("FailedTerminal PRECONDITION_UNSUPPORTED");
    assertThat(server.requests()).isEmpty();
    for (String place :
        List.of(
            "'url':'%s/x','precondition':{'header':'If-Match'}",
            "'url':'%s/x','precondition':{'field':'/version'}",
            "'url':'%s/x','precondition':{'query':'version'}",
            "'url':'%s/x','headers':{'If-Match':'W {precondition}'}",
            "'url':'%s/x?version={precondition}'",
            "'url':'%s/x','body':{'version':['{precondition}']}")) {
      assertThat(reason(handler("{" + place + "}", server).execute(IF_MATCH)))
          .isEqualTo("Succeeded");
      assertThat(server.requests().getLast().toString()).contains("v17");
    }
  }

  private static final ToolCommand IF_MATCH =
      new ToolCommand(
          ToolCommand.Kind.EXECUTE,
          "k1/t1/global/op",
          "cmd",
          "t1",
          "global",
          "op",
          null,
          1,
          0,
          "pay.transfer",
          null,
          null,
          "{}",
          "v17",
          "agent:a",
          "key-op",
          null,
          null,
          null,
          null,
          false,
          null,
          null,
          null);

  /** Relied on and not sent, the key would protect nothing: the next attempt doubles the effect. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'url':'https://a.example/x' | 255 | true | .key",
        "'url':'https://a.example/x','key':{'header':'K','limit':63} | 255 | true | .key.limit",
        "'url':'https://a.example/x','key':{'header':'K','limit':35} | 36 | false | .key.limit",
        "'url':'https://a.example/x' | 255 | false |",
        "'url':'https://a.example/x','key':{'header':'K','limit':64} | 255 | true |",
        "'url':'https://a.example/x/{key}' | 36 | true |",
        "'url':'https://a.example/x','headers':{'K':'{key}'} | 36 | true |",
        "'url':'https://a.example/x','body':{'k':'{key}'} | 36 | true |",
      })
  void aContractThatDoesNotCarryTheKeyThatThePolicyReliesOnIsRefused(
      String http, int keyLimit, boolean dedupes, @Nullable String member) throws Exception {
    Map<String, HttpContract> contracts = parse("{" + http + "}");
    Map<String, ActionPolicy.Remote> writes =
        Map.of(
            "pay.transfer",
            new ActionPolicy.Remote(
                keyLimit,
                dedupes,
                Duration.ofDays(1),
                ActionPolicy.DedupeAnchor.FIRST_REQUEST,
                true,
                null));
    if (member == null) {
      ExecutorContracts.requireFit(contracts, writes);
      return;
    }
    assertThatThrownBy(() -> ExecutorContracts.requireFit(contracts, writes))
        .isInstanceOfSatisfying(
            ExecutorException.class, e -> assertThat(e.code()).isEqualTo("CONTRACT_INVALID"))
        .hasMessageStartingWith("actions.pay.transfer.http" + member + ":");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{'url':'http://127.0.0.1/x','hots':[]} | .hots",
        "{'url':'https://{arguments.host}/x'} | .url",
        "{'url':'https://{arguments.host}/x','hosts':['a.example:443']} | .url",
        "{'url':'https://a.example{arguments.x}','hosts':['a.example:443']} | .url",
        "{'url':'https://a.example:{arguments.port}/x','hosts':['a.example:443']} | .url",
        "{'url':'{arguments.url}','hosts':['a.example:443']} | .url",
        "{'url':'ftp://a.example/x','hosts':['a.example:443']} | .url",
        "{'url':'https://a.example/x y'} | .url",
        "{'url':'https://a@a.example/x'} | .url",
        "{'url':'https://a.example/x','status':{'url':'https://{arguments.host}/x'}} | .status.url",
        "{'url':'https://a.example/x','status':{'url':'https://b.example?x={key}'}} | .status.url",
        "{'url':'https://a.example/x','headers':{'Host':'b.example'}} | .headers.Host",
        "{'url':'https://a.example/x','headers':{'A':'secret\\n'}} | .headers.A",
        "{'url':'https://a.example/x','headers':{'A':'schl\u00fcssel'}} | .headers.A",
        "{'url':'https://a.example/x','key':{'header':'Content-Length'}} | .key.header",
        "{'url':'https://a.example/{nothing}'} | .url",
        "{'url':'https://a.example/x','hosts':['b.example:443']} | .url",
        "{'url':'https://a.example/x','answers':{'terminal':['204']}} | .answers",
        "{'url':'https://a.example/x','answers':{'expected':['600']}} | .answers.expected",
        "{'url':'https://a.example/x','timeouts':{'connect':'2 s'}} | .timeouts.connect",
        "{'url':'https://a.example/x','key':{'header':'a','field':'/b'}} | .key",
        "{'url':'https://a.example/x','status':{'url':'https://b.example/x'}} | .status.url",
        "{'url':'https://a.example/x','status':{'url':'https://a.example/x','method':'POST'}} |"
            + " .status.method",
        "{'url':'https://a.example/x','response_limit':-1} | .response_limit",
        "{'url':'https://a.example/x','reference':'/id'} | .reference",
        "{'url':'https://a.example/x','reference':'$.a['} | .reference",
        "{'url':'https://a.example/x','status':{'url':'https://a.example/x','found':'$.a[?(@.b==x'}}"
            + " | .status.found",
        "{'url':'https://a.example/x','status':{'url':'https://a.example/x','state':{'path':'$.s'}}}"
            + " | .status.state.committed",
        "{'url':'https://a.example/x','status':{'url':'https://a.example/x','state':{'committed':['a']}}}"
            + " | .status.state.path",
        "{'url':'https://a.example/x','status':{'url':'https://a.example/x','state':{'path':'$.s','committed':['a'],'absent':['a']}}}"
            + " | .status.state.absent",
        "{'method':'POST'} | .url",
        "[] | .http",
      })
  void aContractThatCannotHoldIsRefusedWithItsMember(String http, String member) {
    assertThatThrownBy(() -> handler(http))
        .isInstanceOfSatisfying(
            ExecutorException.class, e -> assertThat(e.code()).isEqualTo("CONTRACT_INVALID"))
        .hasMessageContaining(
            "actions.pay.transfer" + (member.equals(".http") ? member : ".http" + member));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{'items':[{'key':'other','id':'1','state':'paid'},{'key':'op','id':'2','state':'paid'}]} |"
            + " Committed 2",
        "{'items':[{'key':'op','id':2,'state':'paid'}]} | Committed 2",
        "{'items':[{'key':'op','id':'2','state':'failed'}]} | Absent STATE_ABSENT",
        "{'items':[{'key':'op','id':'2','state':'pending'}]} | Undetermined STATE_UNDECIDED",
        "{'items':[{'key':'op','id':'2'}]} | Undetermined STATE_UNDECIDED",
        "{'items':[{'key':'op','id':'2','state':false}]} | Absent STATE_ABSENT",
        "{'items':[{'key':'other','id':'1','state':'paid'}]} | Absent null",
        "{'items':[]} | Absent null",
        "not json | Undetermined STATUS_NOT_FOUND_IN_ANSWER",
      })
  void aStatusReadFindsItsMemberAndSaysWhatBecameOfIt(String body, String expected)
      throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(200, body.replace('\'', '"'), "X: y");
    StatusAnswer answer =
        handler(
                """
                {'url':'%1$s/x','status':{'url':'%1$s/x','empty_is_absent':true,
                 'found':'$.items[?(@.key == \\"op\\")]',
                 'reference':'$.items[?(@.key == \\"op\\")].id',
                 'state':{'path':'$.items[?(@.key == \\"op\\")].state',
                          'committed':['paid'],'absent':['failed','false']}}}
                """
                    .formatted(server.url()))
            .readStatus(Commands.reconcile("op", 1, false));
    assertThat(
            switch (answer) {
              case StatusAnswer.Committed c -> "Committed " + c.reference();
              case StatusAnswer.Absent a -> "Absent " + a.reason();
              case StatusAnswer.Undetermined u -> "Undetermined " + u.reason();
            })
        .isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "$.a.b[1], y",
    "$..c, z",
    "$.a.b.length(), 2",
    "$.none.at.all, ",
    "$.a, ",
    "$.e, ",
    "$.f, ",
    "$.g, "
  })
  void aReferenceIsAnyPathToATextOrANumber(String path, @Nullable String reference)
      throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(
        200,
        "{'a':{'b':['x','y']},'d':[{'c':'z'}],'e':'','f':' ','g':null}".replace('\'', '"'),
        "X: y");
    assertThat(
            handler("{'url':'%s/x','reference':'%s'}".formatted(server.url(), path))
                .execute(Commands.execute("op", "{}")))
        .isInstanceOfSatisfying(
            ToolOutcome.Succeeded.class, s -> assertThat(s.reference()).isEqualTo(reference));
  }

  @ParameterizedTest
  @CsvSource({"Location: /effects/1, /effects/1", "'Location:', ", "'Location:  ', ", "X: y, "})
  void aHeaderMayNameTheEffect(String header, @Nullable String reference) throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(200, "{}", header);
    assertThat(
            handler("{'url':'%s/x','reference_header':'Location'}".formatted(server.url()))
                .execute(Commands.execute("op", "{}")))
        .isInstanceOfSatisfying(
            ToolOutcome.Succeeded.class, s -> assertThat(s.reference()).isEqualTo(reference));
  }

  @Test
  void aResultSaysInWhichVersionOfItsFormItIs() throws Exception {
    ScriptedServer server = scripted(99);
    server.answer(200, "{\"id\":\"1\"}", "X: y");
    ToolHandler versioned =
        handler(
            "{'url':'%1$s/x','result_schema':3,'status':{'url':'%1$s/x'}}".formatted(server.url()));
    assertThat(versioned.execute(Commands.execute("op", "{}")))
        .isInstanceOfSatisfying(
            ToolOutcome.Succeeded.class, it -> assertThat(it.schema()).isEqualTo(3));
    assertThat(versioned.readStatus(Commands.reconcile("op", 1, false)))
        .isInstanceOfSatisfying(
            StatusAnswer.Committed.class, it -> assertThat(it.schema()).isEqualTo(3));
    assertThat(
            handler("{'url':'%s/x'}".formatted(server.url())).execute(Commands.execute("op", "{}")))
        .isInstanceOfSatisfying(
            ToolOutcome.Succeeded.class, it -> assertThat(it.schema()).isNull());
  }

  @Test
  void aContractDoesNotPrintItsSecrets() throws Exception {
    Map<String, HttpContract> contracts =
        parse(
            """
            {'url':'https://a.example/s3cret','headers':{'Authorization':'Bearer s3cret'},
             'status':{'url':'https://a.example/x','headers':{'Authorization':'s3cret'}}}
            """);
    assertThat(contracts.toString()).doesNotContain("s3cret");
    assertThat(Objects.requireNonNull(contracts.get("pay.transfer")).headers().toString())
        .doesNotContain("s3cret");
    // A secret may have braces by chance.
    assertThatThrownBy(
            () -> parse("{'url':'https://a.example/x','headers':{'Authorization':'{s3cret}'}}"))
        .hasMessageContaining("http.headers.Authorization")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void aMissingArgumentIsAFailureBeforeTheCall() throws Exception {
    ScriptedServer server = scripted(99);
    assertThat(
            reason(
                handler("{'url':'%s/{arguments.to}'}".formatted(server.url()))
                    .execute(Commands.execute("op", "{}"))))
        .isEqualTo("FailedTerminal TEMPLATE_VALUE_MISSING");
    assertThat(server.requests()).isEmpty();
  }

  private static String reason(ToolOutcome outcome) {
    return switch (outcome) {
      case ToolOutcome.Succeeded s -> "Succeeded";
      case ToolOutcome.FailedRetryable r -> "FailedRetryable " + r.reason();
      case ToolOutcome.FailedTerminal t -> "FailedTerminal " + t.reason();
      case ToolOutcome.Unknown u -> "Unknown " + u.reason();
    };
  }

  private ScriptedServer scripted(int closeAtRequest) throws IOException {
    ScriptedServer server = new ScriptedServer(closeAtRequest);
    open.add(server);
    return server;
  }

  private ToolHandler handler(String http, ScriptedServer server) throws JsonProcessingException {
    return handler(http.formatted(server.url()));
  }

  private ToolHandler handler(String http) throws JsonProcessingException {
    return handler(Objects.requireNonNull(parse(http).get("pay.transfer")));
  }

  private ToolHandler handler(HttpContract contract) {
    HttpRemotes remotes = HttpRemotes.of(Map.of("pay.transfer", contract), CLOCK);
    open.add(remotes);
    return Objects.requireNonNull(remotes.handlers().get("pay.transfer"));
  }

  private static Map<String, HttpContract> parse(String http) throws JsonProcessingException {
    ObjectNode actions = JSON.createObjectNode();
    actions
        .putObject("pay.transfer")
        .put("effect", "write")
        .set("http", JSON.readTree(http.replace('\'', '"')));
    return ExecutorContracts.parse(actions);
  }
}
