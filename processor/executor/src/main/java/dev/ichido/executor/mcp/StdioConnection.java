package dev.ichido.executor.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A tool server that is a child of this process. The SDK's transport of this kind is not used: it
 * ends at a line that is no JSON, drops what is sent after the server's standard error is closed,
 * and does not say that the server is gone.
 */
final class StdioConnection extends CorrelatedConnection {
  private static final Logger LOG = LoggerFactory.getLogger(StdioConnection.class);
  private static final Duration GRACE = Duration.ofSeconds(2);

  private final Process process;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("ichido-mcp-to-server").factory());

  private StdioConnection(Process process, Listener listener) {
    super(listener);
    this.process = process;
  }

  /** Starts the server; what it says on its standard error goes to this process's. */
  static StdioConnection start(List<String> command, Listener listener)
      throws McpConnectionException {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    } catch (IOException e) {
      throw McpConnectionException.notSent("SERVER_NOT_STARTED", e);
    }
    StdioConnection connection = new StdioConnection(process, listener);
    Thread.ofVirtual().name("ichido-mcp-server").start(connection::read);
    return connection;
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        take(line);
      }
    } catch (IOException e) {
      LOG.debug("The tool server can't be read", e);
    } finally {
      ended(McpConnectionException.lost("CONNECTION_LOST", null));
    }
  }

  /** A line that is no message, such as the banner of a package runner, is left out. */
  private void take(String line) {
    JsonNode node;
    try {
      node = line.isBlank() ? null : JsonRpc.JSON.readTree(line);
    } catch (JsonProcessingException e) {
      LOG.debug("The tool server wrote a line that is no JSON");
      return;
    }
    if (node instanceof ObjectNode message) {
      received(message);
    } else if (node != null && node.isArray()) {
      node.forEach(
          each -> {
            if (each instanceof ObjectNode message) {
              received(message);
            }
          });
    }
  }

  /** Does not wait: a server that does not read stops the thread that writes, and no other. */
  @Override
  void transmit(ObjectNode message) throws McpConnectionException {
    if (!process.isAlive()) {
      throw McpConnectionException.notSent("SERVER_GONE", null);
    }
    try {
      writer.execute(() -> write(message));
    } catch (RejectedExecutionException e) {
      throw McpConnectionException.notSent("CONNECTION_CLOSED", e);
    }
  }

  private void write(ObjectNode message) {
    OutputStream out = process.getOutputStream();
    try {
      out.write((message + "\n").getBytes(UTF_8));
      out.flush();
    } catch (IOException e) {
      failed(message, McpConnectionException.lost("CONNECTION_LOST", e));
    }
  }

  /** Ends its input, then the process, then all that it started. */
  @Override
  public void close() {
    try (writer) {
      writer.execute(this::endInput);
      endProcesses();
    } catch (RejectedExecutionException closed) {
      LOG.debug("The tool server is closed twice");
    }
  }

  private void endInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      LOG.debug("The tool server's input can't be closed", e);
    }
  }

  private void endProcesses() {
    List<ProcessHandle> children = process.descendants().toList();
    try {
      if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroy();
      }
      if (!process.waitFor(GRACE.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    children.forEach(ProcessHandle::destroy);
    CompletableFuture.allOf(
            children.stream().map(ProcessHandle::onExit).toArray(CompletableFuture<?>[]::new))
        .completeOnTimeout(null, GRACE.toMillis(), TimeUnit.MILLISECONDS)
        .join();
    children.forEach(ProcessHandle::destroyForcibly);
  }
}
