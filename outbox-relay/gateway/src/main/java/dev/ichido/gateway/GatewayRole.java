package dev.ichido.gateway;

import io.helidon.common.configurable.Resource;
import io.helidon.common.pki.Keys;
import io.helidon.common.tls.Tls;
import io.helidon.common.tls.TlsClientAuth;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.WebServerConfig;
import io.helidon.webserver.http.HttpRouting;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP door: writes intents into the outbox and waits on the inbox. What becomes of an
 * operation is the processor's to say; the door only turns its words into HTTP.
 */
public final class GatewayRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayRole.class);
  private static final Duration GRACE = Duration.ofSeconds(3);

  /** A body this many times too large is not read to its end: the connection is closed. */
  private static final long HARD_LIMIT = 4;

  private final GatewayConfig config;
  private final Supplier<Map<String, ActionTerms>> actions;
  private final DataSource outbox;
  private final DataSource inbox;
  private final Function<String, Optional<String>> bodies;
  private final boolean migrate;
  private final MeterRegistry meters;
  private final AtomicReference<@Nullable Life> life = new AtomicReference<>();

  private record Life(ReplyFeed feed, WebServer server) {}

  /**
   * A door of these databases.
   *
   * @param actions what is published of each action, as it is now
   * @param outbox where intents are written
   * @param inbox where replies are read; one of its connections is kept for listening
   * @param bodies content of a result that is kept apart, by its SHA-256
   * @param migrate whether the door's own table is brought up to date at start
   */
  public GatewayRole(
      GatewayConfig config,
      Supplier<Map<String, ActionTerms>> actions,
      DataSource outbox,
      DataSource inbox,
      Function<String, Optional<String>> bodies,
      boolean migrate,
      MeterRegistry meters) {
    this.config = config;
    this.actions = actions;
    this.outbox = outbox;
    this.inbox = inbox;
    this.bodies = bodies;
    this.migrate = migrate;
    this.meters = meters;
  }

  /**
   * Begins to listen.
   *
   * @throws GatewayException PLAIN_HTTP, TLS_UNUSABLE, ADDRESS_UNUSABLE, TOKENS_UNREADABLE,
   *     JWKS_ADDRESS, CERTIFICATE_SUBJECT
   */
  public void start() {
    requireSafeAddress();
    if (migrate) {
      GatewayMigration.migrate(outbox);
    }
    ReplyFeed feed = new ReplyFeed(inbox);
    Limits limits = new Limits(config.ratePerTenant(), config.maxWaiting());
    Gauge.builder("ichido.gateway.waiting", limits, Limits::taken)
        .description("Requests that wait and streams that are open.")
        .register(meters);
    HttpDoor door =
        new HttpDoor(
            config,
            actions,
            Credentials.of(config),
            limits,
            new Intake(outbox),
            new ReplyStore(inbox),
            feed,
            bodies,
            Clock.systemUTC(),
            meters);
    HttpRouting.Builder routing = HttpRouting.builder();
    door.route(routing);
    WebServerConfig.Builder server =
        WebServer.builder()
            .host(config.host())
            .port(config.port())
            .maxPayloadSize(HARD_LIMIT * config.maxBodyBytes())
            .shutdownGracePeriod(GRACE)
            .shutdownHook(false)
            // With channels a connection keeps twice the buffers while it waits. Without them the
            // server does not know the certificate of a client.
            .useNio(config.tls() != null)
            .directHandlers(HttpDoor.directHandlers())
            .routing(routing);
    GatewayConfig.Tls tls = config.tls();
    if (tls != null) {
      server.tls(tls(tls));
    }
    WebServer listening = server.build();
    try {
      listening.start();
    } catch (RuntimeException e) {
      throw GatewayException.of(
          "ADDRESS_UNUSABLE",
          "Expected to listen on port "
              + config.port()
              + " of "
              + config.host()
              + ", but that failed. Check that the address is this machine's and the port free.",
          e);
    }
    feed.start();
    life.set(new Life(feed, listening));
    LOG.info("Gateway listens at {}", url());
  }

  /** Where it listens, such as {@code http://127.0.0.1:8090}. */
  public String url() {
    Life current = life.get();
    int port = current == null ? config.port() : current.server().port();
    return (config.tls() == null ? "http://" : "https://") + config.host() + ":" + port;
  }

  /** Why the role stopped by itself: it does not. */
  public Optional<Throwable> failure() {
    return Optional.empty();
  }

  /** Whether it listens, and replies can be read. */
  public boolean ready() {
    Life current = life.get();
    return current != null && current.server().isRunning() && current.feed().ready();
  }

  /** Answers who waits with what is known, and stops. May be called more than once. */
  @Override
  public void close() {
    Life current = life.getAndSet(null);
    if (current != null) {
      current.feed().release();
      current.server().stop();
      current.feed().close();
    }
  }

  private void requireSafeAddress() {
    if (config.tls() != null || config.plainHttp()) {
      return;
    }
    try {
      if (InetAddress.getByName(config.host()).isLoopbackAddress()) {
        return;
      }
    } catch (UnknownHostException e) {
      throw GatewayException.of(
          "ADDRESS_UNUSABLE",
          "Expected an address of this machine in gateway.host, but it is not known. Check it.",
          e);
    }
    throw GatewayException.of(
        "PLAIN_HTTP",
        "Expected TLS on an address that other hosts reach, but gateway.tls is not set. Set it, or"
            + " plain_http: true where something in front ends TLS.",
        null);
  }

  private static Tls tls(GatewayConfig.Tls files) {
    try {
      Keys own =
          Keys.builder()
              .pem(
                  pem ->
                      pem.key(Resource.create(files.key()))
                          .certChain(Resource.create(files.certificate())))
              .build();
      var tls = Tls.builder().privateKey(own).privateKeyCertChain(own);
      if (files.clientCa() != null) {
        Keys clients =
            Keys.builder().pem(pem -> pem.certificates(Resource.create(files.clientCa()))).build();
        tls.trust(clients).clientAuth(TlsClientAuth.OPTIONAL);
      }
      return tls.build();
    } catch (RuntimeException e) {
      throw GatewayException.of(
          "TLS_UNUSABLE",
          "Expected certificates and a key in PEM form, but they can't be used. Check gateway.tls.",
          e);
    }
  }
}
