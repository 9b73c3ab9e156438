package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The door by itself: certificates, addresses, and a database that does not answer. */
class GatewayRoleTest {
  private static final char[] PASSWORD = "changeit".toCharArray();
  private static final String TOKEN = "0123456789abcdef0123456789abcdef";
  private static final Map<String, ActionTerms> ACTIONS =
      Map.of(
          "pay",
          new ActionTerms(
              false,
              "global",
              Duration.ofMinutes(1),
              Duration.ofHours(24),
              Duration.ofDays(30),
              Duration.ofHours(1)));

  @TempDir Path temp;

  @Test
  void aClientIsKnownByItsCertificateAndNoOtherIs() throws Exception {
    KeyStore server = keys("server", "CN=localhost", "san=ip:127.0.0.1");
    KeyStore agent = keys("agent", "CN=agent-1, O=Example", "ku=digitalSignature");
    KeyStore other = keys("other", "CN=agent-2, O=Example", "ku=digitalSignature");
    Path clients =
        Files.writeString(temp.resolve("clients.pem"), certificate(agent) + certificate(other));
    GatewayConfig config =
        with(
            new GatewayConfig.Tls(
                Files.writeString(temp.resolve("server.pem"), certificate(server)),
                Files.writeString(temp.resolve("server.key"), key(server)),
                clients),
            List.of(new GatewayConfig.Certificate("CN=agent-1,O=Example", "demo", "agent:demo")));
    try (GatewayRole door = door(config)) {
      door.start();
      assertThat(get(client(server, agent), door).statusCode()).isEqualTo(200);
      assertThat(get(client(server, other), door).statusCode()).isEqualTo(401);
      assertThat(get(client(server, null), door).statusCode()).isEqualTo(401);
    }
  }

  @Test
  void withoutTlsOnlyLoopbackIsServed() {
    assertThatExceptionOfType(GatewayException.class)
        .isThrownBy(() -> door(GatewayConfig.DEFAULT.at("0.0.0.0", 0)).start())
        .satisfies(e -> assertThat(e.code()).isEqualTo("PLAIN_HTTP"));
  }

  @Test
  void aDatabaseThatDoesNotAnswerAsksForTheSameRequestAgain() throws Exception {
    Path tokens = Files.writeString(temp.resolve("tokens"), TOKEN + " demo agent:demo\n");
    try (GatewayRole door = door(GatewayConfig.DEFAULT.withTokens(tokens));
        HttpClient http = HttpClient.newHttpClient()) {
      door.start();
      assertThat(door.ready()).isFalse();
      HttpResponse<String> answer = post(http, door, "");
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.headers().firstValue("Retry-After")).isPresent();
      assertThat(answer.body()).contains("DATABASE_UNAVAILABLE").doesNotContain("no database");
    }
  }

  @Test
  void aBodyThatIsTooLargeIsRefusedByAProblemDocument() throws Exception {
    Path tokens = Files.writeString(temp.resolve("tokens"), TOKEN + " demo agent:demo\n");
    String large = "\"" + "a".repeat(GatewayConfig.DEFAULT.maxBodyBytes()) + "\"";
    try (GatewayRole door = door(GatewayConfig.DEFAULT.withTokens(tokens));
        HttpClient http = HttpClient.newHttpClient()) {
      door.start();
      HttpResponse<String> refused = post(http, door, large);
      assertThat(refused.statusCode()).isEqualTo(413);
      assertThat(refused.body()).contains("BODY_TOO_LARGE");
      assertThat(refused.headers().firstValue("Content-Type")).contains("application/problem+json");
    }
  }

  private static HttpResponse<String> post(HttpClient http, GatewayRole door, String body)
      throws Exception {
    return http.send(
        HttpRequest.newBuilder(URI.create(door.url() + "/v1/actions/pay"))
            .header("Authorization", "Bearer " + TOKEN)
            .header("Idempotency-Key", "\"an-operation-0001\"")
            .header("Content-Type", "application/json")
            .POST(body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  private static GatewayRole door(GatewayConfig config) {
    DataSource down =
        (DataSource)
            Proxy.newProxyInstance(
                GatewayRoleTest.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                  throw new SQLException("no database", "08001");
                });
    return new GatewayRole(
        config,
        () -> ACTIONS,
        down,
        down,
        sha256 -> Optional.empty(),
        false,
        new SimpleMeterRegistry());
  }

  private static GatewayConfig with(
      GatewayConfig.Tls tls, List<GatewayConfig.Certificate> certificates) {
    GatewayConfig d = GatewayConfig.DEFAULT;
    return new GatewayConfig(
        d.host(),
        d.port(),
        d.plainHttp(),
        tls,
        d.tokens(),
        d.jwt(),
        certificates,
        d.maxBodyBytes(),
        d.ratePerTenant(),
        d.maxWaiting(),
        d.maxWait(),
        d.decisionWait());
  }

  private static HttpResponse<String> get(HttpClient client, GatewayRole door) throws Exception {
    try (client) {
      return client.send(
          HttpRequest.newBuilder(URI.create(door.url() + "/v1/actions/pay")).build(),
          BodyHandlers.ofString());
    }
  }

  private static HttpClient client(KeyStore server, @Nullable KeyStore own) throws Exception {
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    KeyStore known = KeyStore.getInstance("PKCS12");
    known.load(null, null);
    known.setCertificateEntry("server", server.getCertificate("own"));
    trust.init(known);
    KeyManager[] shown = null;
    if (own != null) {
      KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
      keys.init(own, PASSWORD);
      shown = keys.getKeyManagers();
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(shown, trust.getTrustManagers(), null);
    return HttpClient.newBuilder().sslContext(context).build();
  }

  /** A key with a certificate that it signed itself, made by the JDK's keytool. */
  private KeyStore keys(String name, String subject, String extension) throws Exception {
    Path file = temp.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "own",
                "-keyalg",
                "EC",
                "-dname",
                subject,
                "-ext",
                extension,
                "-storepass",
                new String(PASSWORD),
                "-keystore",
                file.toString())
            .redirectErrorStream(true)
            .start();
    assertThat(keytool.waitFor())
        .as(new String(keytool.getInputStream().readAllBytes(), US_ASCII))
        .isZero();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    return store;
  }

  private static String certificate(KeyStore store) throws Exception {
    Certificate certificate = store.getCertificate("own");
    return pem("CERTIFICATE", certificate.getEncoded());
  }

  private static String key(KeyStore store) throws Exception {
    return pem("PRIVATE KEY", store.getKey("own", PASSWORD).getEncoded());
  }

  private static String pem(String what, byte[] bytes) {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return "-----BEGIN " + what + "-----\n" + body + "\n-----END " + what + "-----\n";
  }
}
