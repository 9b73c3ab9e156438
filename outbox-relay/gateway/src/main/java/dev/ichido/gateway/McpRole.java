package dev.ichido.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Clock;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MCP door: stands between clients and one tool server, writes calls that have an effect into
 * the outbox and answers them from the inbox. What becomes of them is the processor's to say.
 */
public final class McpRole implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(McpRole.class);

  private final McpConfig config;
  private final McpUpstream upstream;
  private final DataSource outbox;
  private final boolean migrate;
  private final ReplyFeed feed;
  private final McpDoor door;
  private final Set<McpSession> sessions = ConcurrentHashMap.newKeySet();
  private final AtomicReference<@Nullable McpEndpoint> endpoint = new AtomicReference<>();

  /**
   * A door of these databases.
   *
   * @param outbox where intents are written
   * @param inbox where replies are read; one of its connections is kept for listening
   * @param bodies content of a result that is kept apart, by its SHA-256
   * @param migrate whether the door's own table is brought up to date at start
   */
  public McpRole(
      McpConfig config,
      McpUpstream upstream,
      DataSource outbox,
      DataSource inbox,
      Function<String, Optional<String>> bodies,
      boolean migrate) {
    this.config = config;
    this.upstream = upstream;
    this.outbox = outbox;
    this.migrate = migrate;
    this.feed = new ReplyFeed(inbox);
    this.door =
        new McpDoor(
            config, new Intake(outbox), new ReplyStore(inbox), feed, bodies, Clock.systemUTC());
  }

  /** Begins to listen for replies. */
  public void start() {
    if (migrate) {
      GatewayMigration.migrate(outbox);
    }
    feed.start();
  }

  /** Whether replies can be read. */
  public boolean ready() {
    return feed.ready();
  }

  /** Why the role stopped by itself: it does not. */
  public Optional<Throwable> failure() {
    return Optional.empty();
  }

  /** Serves one client over these streams and returns when it has closed its side. */
  public void serve(InputStream in, OutputStream out) throws IOException, InterruptedException {
    StdioClient client = new StdioClient(in, out);
    try (McpSession session = session(client::send)) {
      client.read(session::fromClient);
      // Who closes its side may still read the answers to what it asked.
      session.awaitAnswers();
      sessions.remove(session);
    }
  }

  /**
   * Serves clients over Streamable HTTP.
   *
   * @param http where to listen and whose credentials are accepted; where it has none, everybody on
   *     this machine is the configured principal
   * @param anyHost whether requests may name any host, because something in front looks at that
   * @throws GatewayException ADDRESS_UNUSABLE, PLAIN_HTTP and those of the credentials
   */
  public String listen(GatewayConfig http, boolean anyHost) {
    McpEndpoint begun = new McpEndpoint(http, anyHost, config, this::session, sessions::remove);
    begun.start();
    endpoint.set(begun);
    LOG.info("MCP door listens at {}", begun.url());
    return begun.url();
  }

  private McpSession session(Consumer<ObjectNode> client) {
    return session(new Caller(config.tenant(), config.principal()), client);
  }

  private McpSession session(Caller caller, Consumer<ObjectNode> client) {
    McpSession session = new McpSession(caller, upstream, door, client);
    sessions.add(session);
    return session;
  }

  /**
   * Calls a tool in the session of the client that asked for the operation, so that its progress,
   * its questions and its state are that client's.
   *
   * @param params what the executor sends; the client's {@code _meta} is laid under its own
   * @return empty where no such client is there
   * @throws InterruptedException when nobody waits for it any more; then nothing was sent
   */
  public Optional<CompletableFuture<ObjectNode>> call(
      String tenant, String principal, String operationId, ObjectNode params)
      throws InterruptedException {
    Caller caller = new Caller(tenant, principal);
    for (McpSession session : sessions) {
      Optional<JsonNode> meta =
          session.caller().equals(caller) ? session.findMeta(operationId) : Optional.empty();
      if (meta.isPresent()) {
        ObjectNode joined =
            meta.get() instanceof ObjectNode given ? given.deepCopy() : McpJson.object();
        joined.setAll((ObjectNode) params.path("_meta"));
        return ask(session, params.deepCopy().set("_meta", joined));
      }
    }
    return Optional.empty();
  }

  private static Optional<CompletableFuture<ObjectNode>> ask(McpSession session, ObjectNode params)
      throws InterruptedException {
    try {
      return Optional.of(session.request("tools/call", params));
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      LOG.debug("The client's session with the tool server can't be used", e);
      return Optional.empty();
    }
  }

  /** Ends all sessions. May be called more than once. */
  @Override
  public void close() {
    McpEndpoint listening = endpoint.getAndSet(null);
    feed.release();
    if (listening != null) {
      listening.close();
    }
    sessions.forEach(McpSession::close);
    feed.close();
  }
}
