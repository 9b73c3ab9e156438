package dev.ichido.schemas.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.ichido.schemas.Samples;
import dev.ichido.schemas.ToolIntent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistryTlsTest {
  private static final String PASSWORD = "changeit";

  @TempDir static Path temp;
  private static Path store;
  private static HttpsServer server;

  @BeforeAll
  static void start() throws Exception {
    store = temp.resolve("registry.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "r",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(keytool.waitFor()).as(said).isZero();

    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          byte[] body = "{\"id\":7}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterAll
  static void stop() {
    server.stop(0);
  }

  private static byte[] serialized(Map<String, ?> more) {
    Map<String, Object> config = new HashMap<>(more);
    config.put("schema.registry.url", "https://localhost:" + server.getAddress().getPort());
    config.put("max.retries", 0);
    return RecordSerdes.from(config)
        .serializer(ToolIntent.class)
        .serialize("ichido.intents", Samples.intent());
  }

  @Test
  void trustIsSetInKafkasWords() {
    byte[] bytes =
        serialized(
            Map.of(
                "schema.registry.ssl.truststore.location",
                store.toString(),
                "schema.registry.ssl.truststore.password",
                PASSWORD,
                "schema.registry.ssl.truststore.type",
                "PKCS12"));

    assertThat(bytes[4]).isEqualTo((byte) 7);
  }

  @Test
  void registryThatIsNotTrustedIsNotTalkedTo() {
    assertThatThrownBy(() -> serialized(Map.of()))
        .isInstanceOfSatisfying(
            RegistryUnavailableException.class,
            e -> assertThat(e.code()).isEqualTo("REGISTRY_UNREACHABLE"));
  }
}
