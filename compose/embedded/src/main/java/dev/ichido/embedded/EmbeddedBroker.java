package dev.ichido.embedded;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One KRaft node (broker and controller) in this process, on the loopback interface. A start on the
 * same folder keeps topics, records, offsets and transactions.
 *
 * <p>Kafka ends its process when a log folder fails. Here the node stops instead and says so in
 * {@link #failure()}; one process can't tell its nodes apart, so each of them reports it.
 */
public final class EmbeddedBroker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedBroker.class);
  private static final int TRIES_ON_FREE_PORTS = 5;
  private static final long FULL_BELOW_BYTES = 16L << 20;
  private static final AtomicReference<@Nullable Throwable> HALTED = new AtomicReference<>();

  private final Path folder;
  private final int port;
  private final KafkaRaftServer server;

  private EmbeddedBroker(Path folder, int port, KafkaRaftServer server) {
    this.folder = folder;
    this.port = port;
    this.server = server;
  }

  /** Starts on a free port. */
  public static EmbeddedBroker start(Path folder) {
    return start(folder, 0, Map.of());
  }

  /**
   * Starts the node and returns when it takes requests, after 2 to 5 s.
   *
   * @param folder created when it is missing; it must not be in use
   * @param port 0 for a free one
   * @param settings broker properties laid over the embedded ones
   * @throws EmbeddedServerException PORT_IN_USE, DATA_FOLDER_UNUSABLE, DISK_FULL, BROKER_FAILED
   */
  public static EmbeddedBroker start(Path folder, int port, Map<String, String> settings) {
    Path data = folder.toAbsolutePath().normalize();
    keepTheProcess();
    try {
      Files.createDirectories(data);
    } catch (IOException e) {
      throw EmbeddedServerException.folderUnusable(data, "it can't be created", e);
    }
    for (int left = TRIES_ON_FREE_PORTS; ; left--) {
      int chosen = LoopbackPorts.require("Kafka node", port);
      try {
        return new EmbeddedBroker(
            data, chosen, run(data, properties(data, chosen, LoopbackPorts.free(), settings)));
      } catch (RuntimeException e) {
        // Between the choice of a free port and its use another process may take it.
        if (!isBindFailure(e)) {
          throw failed(data, e);
        }
        if (port != 0) {
          throw EmbeddedServerException.portInUse("Kafka node", port);
        }
        if (left == 1) {
          throw failed(data, e);
        }
      }
    }
  }

  /** {@code host:port}. */
  public String bootstrapServers() {
    return LoopbackPorts.HOST + ":" + port;
  }

  public int port() {
    return port;
  }

  /** Why the node is down, if it went down by itself. */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(HALTED.get()).map(cause -> stopped(folder, cause));
  }

  @Override
  public void close() {
    server.shutdown();
    server.awaitShutdown();
  }

  private static KafkaRaftServer run(Path data, Properties properties) {
    try (PrintStream silent =
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)) {
      new Formatter()
          .setClusterId(clusterId(data))
          .setNodeId(1)
          .setControllerListenerName("CONTROLLER")
          .setMetadataLogDirectory(data.toString())
          .addDirectory(data.toString())
          .setIgnoreFormatted(true)
          .setPrintStream(silent)
          .run();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    KafkaRaftServer server =
        new KafkaRaftServer(KafkaConfig.fromProps(properties, false), Time.SYSTEM);
    try {
      server.startup();
    } catch (Throwable e) {
      server.shutdown();
      throw e;
    }
    return server;
  }

  /** Each node is a cluster of its own, and stays the same one. */
  private static String clusterId(Path data) throws IOException {
    Path known = data.resolve("meta.properties");
    Properties meta = new Properties();
    if (Files.exists(known)) {
      try (Reader in = Files.newBufferedReader(known)) {
        meta.load(in);
      }
    }
    return meta.getProperty("cluster.id", Uuid.randomUuid().toString());
  }

  private static Properties properties(
      Path data, int port, int controllerPort, Map<String, String> settings) {
    Properties p = new Properties();
    p.put("process.roles", "broker,controller");
    p.put("node.id", "1");
    p.put("controller.quorum.voters", "1@" + LoopbackPorts.HOST + ":" + controllerPort);
    String client = "PLAINTEXT://" + LoopbackPorts.HOST + ":" + port;
    p.put("listeners", client + ",CONTROLLER://" + LoopbackPorts.HOST + ":" + controllerPort);
    p.put("advertised.listeners", client);
    p.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    p.put("controller.listener.names", "CONTROLLER");
    p.put("inter.broker.listener.name", "PLAINTEXT");
    p.put("log.dirs", data.toString());
    p.put("offsets.topic.replication.factor", "1");
    p.put("offsets.topic.num.partitions", "4");
    p.put("transaction.state.log.replication.factor", "1");
    p.put("transaction.state.log.min.isr", "1");
    p.put("transaction.state.log.num.partitions", "4");
    // A transaction that follows at once on another waits this long, at its first record, for the
    // end
    // of that one.
    p.put("add.partitions.to.txn.retry.backoff.ms", "1");
    p.put("share.coordinator.state.topic.replication.factor", "1");
    p.put("share.coordinator.state.topic.min.isr", "1");
    p.put("group.initial.rebalance.delay.ms", "0");
    p.put("auto.create.topics.enable", "false");
    // A killed node registers again only after its old session is over.
    p.put("broker.session.timeout.ms", "2000");
    p.put("broker.heartbeat.interval.ms", "500");
    p.put("metadata.max.idle.interval.ms", "5000");
    p.put("num.network.threads", "2");
    p.put("num.io.threads", "2");
    p.put("background.threads", "2");
    p.put("num.recovery.threads.per.data.dir", "1");
    // Each pass of the cleaner rewrites a log for as many keys as this holds, 24 bytes each, and
    // what it replaced stays on the disk for the delay: with room for 80,000 keys the changelog of
    // ten million filled 70 GB.
    p.put("log.cleaner.dedupe.buffer.size", String.valueOf(32 << 20));
    p.put("log.segment.delete.delay.ms", "5000");
    p.put("log.index.size.max.bytes", "1048576");
    p.put("group.coordinator.threads", "1");
    p.put("share.coordinator.threads", "1");
    settings.forEach(p::put);
    return p;
  }

  /** Kafka's own way to keep the process: its tests use it too. It is one a process. */
  private static void keepTheProcess() {
    HALTED.set(null);
    Exit.setExitProcedure(EmbeddedBroker::halted);
    Exit.setHaltProcedure(EmbeddedBroker::halted);
  }

  private static void halted(int status, @Nullable String message) {
    IllegalStateException halt =
        new IllegalStateException(
            "Kafka asked to end the process with status "
                + status
                + (message == null ? "" : ": " + message));
    HALTED.compareAndSet(null, halt);
    LOG.error("The embedded Kafka node stopped by itself", halt);
    throw halt;
  }

  private static boolean isBindFailure(Throwable e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      String message = t.getMessage();
      if (t instanceof BindException
          || (message != null && message.contains("Address already in use"))) {
        return true;
      }
    }
    return false;
  }

  private static EmbeddedServerException stopped(Path data, Throwable cause) {
    long free = data.toFile().getUsableSpace();
    return free < FULL_BELOW_BYTES
        ? EmbeddedServerException.diskFull(data, free >> 20, cause)
        : EmbeddedServerException.broker("it stopped by itself", data, cause);
  }

  private static EmbeddedServerException failed(Path data, Throwable e) {
    long free = data.toFile().getUsableSpace();
    for (Throwable t = e; t != null; t = t.getCause()) {
      String message = t.getMessage();
      if (message != null && message.contains("No space left")) {
        return EmbeddedServerException.diskFull(data, free >> 20, e);
      }
    }
    if (!Files.isWritable(data)) {
      return EmbeddedServerException.folderUnusable(data, "the permission is denied", e);
    }
    return EmbeddedServerException.broker("it did not come up (" + root(e) + ")", data, e);
  }

  private static String root(Throwable e) {
    Throwable t = e;
    while (t.getCause() != null) {
      t = t.getCause();
    }
    String message = t.getMessage();
    return message == null ? t.getClass().getSimpleName() : message;
  }
}
