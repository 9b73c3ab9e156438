package dev.ichido.executor.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.ichido.executor.Commands;
import dev.ichido.executor.ExecutorException;
import dev.ichido.executor.StatusAnswer;
import dev.ichido.executor.ToolHandler;
import dev.ichido.executor.ToolOutcome;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Clock;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A remote whose certificate nobody vouches for but itself. */
class TlsTest {
  private static final AtomicInteger REQUESTS = new AtomicInteger();

  @TempDir private static Path folder;
  private static HttpsServer server;

  @BeforeAll
  static void start() throws Exception {
    certificate("remote", "ip:127.0.0.1");
    certificate("stranger", "dns:elsewhere.example");
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(folder.resolve("remote.p12"))) {
      keys.load(in, "secret".toCharArray());
    }
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, "secret".toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext(
        "/",
        exchange -> {
          REQUESTS.incrementAndGet();
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
  }

  @AfterAll
  static void stop() {
    server.stop(0);
  }

  @Test
  void aCertificateIsTrustedWhenTheContractNamesIt() throws Exception {
    int before = REQUESTS.get();
    assertThat(execute(folder.resolve("remote.pem"))).isInstanceOf(ToolOutcome.Succeeded.class);
    assertThat(REQUESTS.get() - before).isEqualTo(1);
  }

  @Test
  void aCertificateThatNobodyNamedIsRefusedAndNothingIsSent() throws Exception {
    int before = REQUESTS.get();
    for (Path trust : new @Nullable Path[] {null, folder.resolve("stranger.pem")}) {
      assertThat(execute(trust))
          .isInstanceOfSatisfying(
              ToolOutcome.Unknown.class, u -> assertThat(u.reason()).isEqualTo("TLS_FAILED"));
    }
    assertThat(REQUESTS.get()).isEqualTo(before);
  }

  @Test
  void aTrustFileThatHoldsNoCertificateIsRefusedAtTheStart() throws Exception {
    Path empty = Files.createFile(folder.resolve("empty.pem"));
    for (Path trust : new Path[] {empty, folder.resolve("missing.pem"), folder}) {
      assertThatThrownBy(() -> execute(trust))
          .isInstanceOfSatisfying(
              ExecutorException.class, e -> assertThat(e.code()).isEqualTo("TRUST_UNUSABLE"));
    }
  }

  /** Loopback is told by the name alone: a name that is resolved could lead elsewhere. */
  @ParameterizedTest
  @CsvSource({
    "http://example.com/x, , true",
    "http://example.com/x, true, false",
    "http://127.0.0.1.example.com/x, , true",
    "http://10.0.0.1/x, , true",
    "http://127.0.0.1/x, , false",
    "http://localhost:8080/x, , false",
    "http://[::1]:8080/x, , false",
    "https://example.com/x, , false",
  })
  void whatWouldGoInTheClearToAnotherMachineIsRefusedAtTheStart(
      String url, @Nullable Boolean plainHttp, boolean refused) {
    ObjectNode http = new ObjectMapper().createObjectNode().put("url", url);
    if (plainHttp != null) {
      http.put("plain_http", plainHttp);
    }
    assertRefused(http, refused);
    ObjectNode status = new ObjectMapper().createObjectNode();
    status.put("url", url.replaceFirst("^http:", "https:"));
    status.putArray("hosts").add("example.com:80").add("10.0.0.1:80").add("127.0.0.1:80");
    status.withArray("hosts").add("localhost:8080").add("[::1]:8080").add("example.com:443");
    status.withArray("hosts").add("127.0.0.1.example.com:80").add("127.0.0.1.example.com:443");
    status.withArray("hosts").add("10.0.0.1:443").add("127.0.0.1:443");
    status.putObject("status").put("url", url);
    if (plainHttp != null) {
      status.put("plain_http", plainHttp);
    }
    assertRefused(status, refused);
  }

  private static void assertRefused(ObjectNode http, boolean refused) {
    ObjectNode actions = new ObjectMapper().createObjectNode();
    actions.putObject("pay.transfer").set("http", http);
    if (!refused) {
      assertThat(ExecutorContracts.parse(actions)).hasSize(1);
      return;
    }
    assertThatThrownBy(() -> ExecutorContracts.parse(actions))
        .isInstanceOfSatisfying(
            ExecutorException.class, e -> assertThat(e.code()).isEqualTo("TLS_REQUIRED"))
        .hasMessageContaining("actions.pay.transfer.http.");
  }

  private static ToolOutcome execute(@Nullable Path trust) throws Exception {
    ObjectNode actions = new ObjectMapper().createObjectNode();
    ObjectNode http = actions.putObject("pay.transfer").putObject("http");
    http.put("url", "https://127.0.0.1:" + server.getAddress().getPort() + "/x");
    if (trust != null) {
      http.put("trust", trust.toString());
    }
    http.putObject("status").put("url", http.path("url").textValue());
    try (HttpRemotes remotes =
        HttpRemotes.of(ExecutorContracts.parse(actions), Clock.systemUTC())) {
      ToolHandler handler = Objects.requireNonNull(remotes.handlers().get("pay.transfer"));
      ToolOutcome outcome = handler.execute(Commands.execute("op", "{}"));
      if (!(outcome instanceof ToolOutcome.Succeeded)) {
        assertThat(handler.readStatus(Commands.reconcile("op", 1, false)))
            .isInstanceOf(StatusAnswer.Undetermined.class);
      }
      return outcome;
    }
  }

  private static void certificate(String name, String san) throws Exception {
    String store = folder.resolve(name + ".p12").toString();
    keytool(
        "-genkeypair",
        "-alias",
        name,
        "-keyalg",
        "EC",
        "-dname",
        "CN=" + name,
        "-ext",
        "san=" + san,
        "-keystore",
        store,
        "-storepass",
        "secret");
    keytool(
        "-exportcert",
        "-rfc",
        "-alias",
        name,
        "-file",
        folder.resolve(name + ".pem").toString(),
        "-keystore",
        store,
        "-storepass",
        "secret");
  }

  private static void keytool(String... arguments) throws IOException, InterruptedException {
    String[] command = new String[arguments.length + 1];
    command[0] = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    System.arraycopy(arguments, 0, command, 1, arguments.length);
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("keytool.log").toFile())
            .start();
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(folder.resolve("keytool.log"))).isZero();
  }
}
