package dev.ichido.executor.http;

import dev.ichido.executor.ExecutorException;
import dev.ichido.executor.ToolHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * Handlers of the actions that are performed by HTTP, with the clients that they share. Close it
 * after the role that uses them.
 */
public final class HttpRemotes implements AutoCloseable {
  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|\\[[0-9a-fA-F:]+]");

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<ClientSettings, HttpClient> clients = new HashMap<>();
  private final Map<String, ToolHandler> handlers = new ConcurrentHashMap<>();
  private final Clock clock;

  /** What two contracts must have in common to share a client. */
  private record ClientSettings(Duration connect, @Nullable Path trust) {}

  /**
   * Without contracts yet.
   *
   * @throws ExecutorException HIDDEN_RETRY when the JVM is set to repeat requests that are no reads
   */
  public HttpRemotes(Clock clock) {
    refuseHiddenRetries();
    this.clock = clock;
  }

  /**
   * Makes a handler for each contract, by action.
   *
   * @throws ExecutorException HIDDEN_RETRY, TRUST_UNUSABLE
   */
  public static HttpRemotes of(Map<String, HttpContract> contracts, Clock clock) {
    HttpRemotes remotes = new HttpRemotes(clock);
    remotes.replace(contracts);
    return remotes;
  }

  /**
   * Puts these contracts in the place of those before; calls that run end under theirs.
   *
   * @throws ExecutorException TRUST_UNUSABLE; then nothing is replaced
   */
  public synchronized void replace(Map<String, HttpContract> contracts) {
    Map<String, ToolHandler> made = new HashMap<>();
    contracts.forEach(
        (action, contract) ->
            made.put(action, new HttpToolHandler(contract, client(contract), clock)));
    handlers.putAll(made);
    handlers.keySet().retainAll(made.keySet());
  }

  /** Handlers by action, as they are now: it changes when contracts are replaced. */
  public Map<String, ToolHandler> handlers() {
    return Collections.unmodifiableMap(handlers);
  }

  /* The JDK client repeats GET and HEAD by itself when a kept connection turns out to be closed; any
  other method only under this property. Contracts for writes can't use GET and HEAD. */
  private static void refuseHiddenRetries() {
    for (String property : List.of("jdk.httpclient.enableAllMethodRetry")) {
      String value = System.getProperty(property);
      if (value != null && (value.isEmpty() || Boolean.parseBoolean(value))) {
        throw ExecutorException.hiddenRetry(property);
      }
    }
  }

  private HttpClient client(HttpContract contract) {
    return clients.computeIfAbsent(
        new ClientSettings(contract.timeouts().connect(), contract.trust()),
        settings -> {
          HttpClient.Builder builder =
              HttpClient.newBuilder()
                  .version(HttpClient.Version.HTTP_1_1)
                  .followRedirects(HttpClient.Redirect.NEVER)
                  .connectTimeout(settings.connect())
                  .executor(threads);
          if (settings.trust() != null) {
            builder.sslContext(trusting(contract.remote(), settings.trust()));
          }
          return builder.build();
        });
  }

  private static SSLContext trusting(String remote, Path file) {
    try (InputStream pem = Files.newInputStream(file)) {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      for (Certificate certificate :
          CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        store.setCertificateEntry(Integer.toString(store.size()), certificate);
      }
      if (store.size() == 0) {
        throw new CertificateException("no certificate");
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw ExecutorException.trustUnusable(remote, e);
    }
  }

  static String hostAndPort(URI uri) {
    int port = uri.getPort();
    if (port < 0) {
      port = "http".equalsIgnoreCase(uri.getScheme()) ? 80 : 443;
    }
    return uri.getHost().toLowerCase(Locale.ROOT) + ":" + port;
  }

  /** Whether a host is this machine by its name alone: a name that is resolved could change. */
  static boolean isLoopback(String host) {
    if (host.equalsIgnoreCase("localhost")) {
      return true;
    }
    if (!ADDRESS.matcher(host).matches()) {
      return false;
    }
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException e) {
      return false;
    }
  }

  @Override
  public void close() {
    clients.values().forEach(HttpClient::shutdownNow);
    threads.shutdownNow();
  }
}
