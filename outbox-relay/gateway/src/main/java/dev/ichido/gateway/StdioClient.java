package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client over a pair of streams, one message a line. */
final class StdioClient {
  private static final Logger LOG = LoggerFactory.getLogger(StdioClient.class);

  private final InputStream in;
  private final OutputStream out;

  StdioClient(InputStream in, OutputStream out) {
    this.in = in;
    this.out = out;
  }

  /** Hands every message on, until the client closes its side. */
  void read(Consumer<ObjectNode> received) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode node;
      try {
        node = line.isBlank() ? null : McpJson.JSON.readTree(line);
      } catch (JsonProcessingException e) {
        send(
            McpJson.error(
                McpJson.JSON.getNodeFactory().nullNode(),
                McpJson.PARSE_ERROR,
                "Expected a line of JSON without a member that stands twice, but it is none. Check"
                    + " the client."));
        continue;
      }
      if (node instanceof ObjectNode message) {
        received.accept(message);
      } else if (node != null && node.isArray()) {
        node.forEach(
            each -> {
              if (each instanceof ObjectNode message) {
                received.accept(message);
              }
            });
      }
    }
  }

  synchronized void send(ObjectNode message) {
    try {
      out.write((message + "\n").getBytes(UTF_8));
      out.flush();
    } catch (IOException e) {
      // What it missed is kept, and told when it asks again.
      LOG.debug("The client is gone", e);
    }
  }
}
