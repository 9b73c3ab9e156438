package dev.ichido.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.app.Endpoints;
import dev.ichido.app.LivePolicy;
import dev.ichido.app.McpProxy;
import dev.ichido.app.McpSettings;
import dev.ichido.app.McpStack;
import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.DatabaseSection;
import dev.ichido.config.IchidoConfig;
import dev.ichido.demo.DemoSetup;
import dev.ichido.executor.mcp.McpConnectionException;
import dev.ichido.executor.mcp.McpServer;
import dev.ichido.executor.mcp.OwnSession;
import dev.ichido.gateway.McpConfig;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "mcp",
    mixinStandardHelpOptions = true,
    description = {
      "Stands in front of an MCP server, so that no tool's effect happens twice. The client speaks"
          + " over standard input and output, or over HTTP with --http.",
      "Where a stack runs on the data folder, or --config names servers, it is used; its policy"
          + " names the tools. Else the stack is started in this process, with an action for each"
          + " tool that is not read-only."
    })
final class McpCommand implements Callable<Integer> {
  /** Of a word: in quotes, after a backslash, or as it stands. */
  private static final Pattern PIECE =
      Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"|'([^']*)'|\\\\(.)|([^\\s\"'\\\\]+)");

  private static final Pattern BLANK = Pattern.compile("\\s+");

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOption data = new DataOption();

  @ArgGroup(multiplicity = "1")
  private Where where = new Where();

  /** The tool server. */
  static final class Where {
    @Option(
        names = "--server",
        paramLabel = "COMMAND",
        description = "The program that is the tool server, with its arguments.")
    private @Nullable String command;

    @Option(
        names = "--url",
        paramLabel = "URL",
        description = "The tool server's address, where it speaks Streamable HTTP.")
    private @Nullable URI url;
  }

  @Option(
      names = "--header",
      paramLabel = "NAME=VALUE",
      description =
          "Sent to the tool server with every request; $${env:NAME} is replaced. With --url.")
  private Map<String, String> headers = new LinkedHashMap<>();

  @Option(names = "--tenant", required = true, description = "Whose operations these are.")
  private String tenant = "";

  @Option(
      names = "--principal",
      defaultValue = "agent:mcp",
      description = "Who calls. Default: ${DEFAULT-VALUE}.")
  private String principal = "agent:mcp";

  @Option(
      names = "--name",
      defaultValue = "mcp",
      description =
          "Names the tool server in the policy; a tool's action is NAME.TOOL. Default:"
              + " ${DEFAULT-VALUE}.")
  private String name = "mcp";

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Tenants, actions and tuning; the servers too, unless they are embedded.")
  private @Nullable Path config;

  @Option(
      names = "--http",
      paramLabel = "PORT",
      description = "Serve clients over Streamable HTTP at /mcp; 0 is a free port.")
  private @Nullable Integer http;

  @Option(
      names = "--any-host",
      description = "With --http: do not ask for a local Host, since something in front does.")
  private boolean anyHost;

  @Option(
      names = "--unidentified",
      defaultValue = "refuse",
      description =
          "What becomes of a call with an effect and without identity: refuse, or lineage-window"
              + " (equal calls within --window are one; for clients that can't be changed)."
              + " Default: ${DEFAULT-VALUE}.")
  private String unidentified = "refuse";

  @Option(
      names = "--window",
      defaultValue = "600",
      paramLabel = "SECONDS",
      description = "Of lineage-window. Default: ${DEFAULT-VALUE}.")
  private int window;

  @Option(
      names = "--answer-within",
      defaultValue = "50",
      paramLabel = "SECONDS",
      description =
          "Hold a call this long, then answer that it goes on; below the client's timeout. Default:"
              + " ${DEFAULT-VALUE}.")
  private int answerWithin;

  @Override
  public Integer call() throws Exception {
    // Standard output is the protocol's alone.
    OutputStream out = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err);
    Output output = Output.of(spec);
    Shutdown.guard(Thread.currentThread());
    McpSettings settings = settings();
    try (McpStack stack = stack(settings, output)) {
      McpProxy proxy = stack.proxy();
      CompletableFuture<Void> served = new CompletableFuture<>();
      if (http == null) {
        Thread.ofPlatform()
            .daemon()
            .name("ichido-mcp-client")
            .start(() -> serve(proxy, out, served));
        output.progress("the MCP door is open");
      } else {
        String url =
            proxy.listen(stack.given().gateway().at(stack.given().gateway().host(), http), anyHost);
        output.progress("the MCP door is open at " + url);
      }
      while (!served.isDone()) {
        stack.requireAlive();
        TimeUnit.MILLISECONDS.sleep(20);
      }
      served.join();
      return ExitCode.HOLDS;
    } catch (InterruptedException e) {
      if (Shutdown.isAsked()) {
        return ExitCode.HOLDS;
      }
      throw e;
    }
  }

  private static void serve(McpProxy proxy, OutputStream out, CompletableFuture<Void> served) {
    try {
      proxy.serve(System.in, out);
      served.complete(null);
    } catch (IOException | InterruptedException | RuntimeException e) {
      served.completeExceptionally(e);
    }
  }

  private McpStack stack(McpSettings settings, Output output) throws InterruptedException {
    IchidoConfig given =
        config == null
            ? ConfigLoader.ofProcess().load("the built-in configuration", Stack.DEFAULTS)
            : ConfigLoader.ofProcess().load(config);
    if (config != null && given.kafka().values().containsKey("bootstrap.servers")) {
      return McpStack.beside(given, LivePolicy.of(config), settings, true);
    }
    Endpoints running = Endpoints.find(data.folder()).orElse(null);
    if (running != null) {
      LivePolicy policy =
          running.config() == null
              ? LivePolicy.fixed(DemoSetup.gettingStarted(data.folder()))
              : LivePolicy.of(Path.of(running.config()));
      return McpStack.beside(on(running, policy.config()), policy, settings, false);
    }
    List<JsonNode> tools;
    try (OwnSession session = new OwnSession(settings.server())) {
      tools = session.tools();
    } catch (McpConnectionException e) {
      throw CommandException.failed(
          "TOOL_SERVER",
          "Expected the tool server to list its tools, but it did not ("
              + e.reason()
              + "). Check --server or --url; run the command by itself.",
          e);
    }
    return McpStack.alone(data.folder(), given, settings, tools, output::progress);
  }

  private IchidoConfig on(Endpoints at, IchidoConfig policy) {
    try {
      return policy.on(
          at.bootstrapServers(),
          at.registryUrl(),
          new DatabaseSection(
              at.databaseUrl(),
              at.databaseUser(),
              Files.readString(data.folder().resolve("postgres/password"), UTF_8).strip()),
          data.folder().resolve("processor").toString(),
          McpStack.DRAIN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private McpSettings settings() {
    if (!name.matches("[A-Za-z0-9_-]{1,64}")) {
      throw CommandException.usage(
          "SERVER_NAME",
          "Expected 1 to 64 of A-Z a-z 0-9 _ - for --name, but there is something else. Check it.");
    }
    McpConfig.Unidentified policy;
    try {
      policy =
          McpConfig.Unidentified.valueOf(unidentified.toUpperCase(Locale.ROOT).replace('-', '_'));
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(
          "UNIDENTIFIED",
          "Expected refuse or lineage-window for --unidentified, but there is something else. Check"
              + " its spelling.",
          e);
    }
    if (window < 1 || answerWithin < 1) {
      throw CommandException.usage(
          "SECONDS",
          "Expected at least 1 for --window and --answer-within, but one is less. Check both.");
    }
    return new McpSettings(
        name,
        server(),
        tenant,
        principal,
        policy,
        Duration.ofSeconds(window),
        Duration.ofSeconds(answerWithin));
  }

  private McpServer server() {
    if (where.url != null) {
      Map<String, String> resolved = new LinkedHashMap<>();
      headers.forEach((key, value) -> resolved.put(key, environment(value)));
      return new McpServer.Url(where.url, resolved);
    }
    if (!headers.isEmpty()) {
      throw CommandException.usage(
          "HEADER", "Expected --header with --url, but it stands with --server. Leave it out.");
    }
    List<String> words = words(where.command == null ? "" : where.command);
    if (words.isEmpty()) {
      throw CommandException.usage(
          "SERVER_COMMAND", "Expected a program in --server, but there is none. Check it.");
    }
    return new McpServer.Command(words);
  }

  private static String environment(String value) {
    Matcher matcher = Pattern.compile("\\$\\{env:([A-Za-z0-9_]+)}").matcher(value);
    return matcher.replaceAll(
        it -> {
          String found = System.getenv(it.group(1));
          if (found == null) {
            throw CommandException.usage(
                "CONFIG_SECRET_MISSING",
                "Expected the environment variable "
                    + it.group(1)
                    + " for --header, but it is not set. Set it.");
          }
          return Matcher.quoteReplacement(found);
        });
  }

  /** As a shell splits it, without expansion. */
  static List<String> words(String command) {
    List<String> words = new ArrayList<>();
    StringBuilder word = null;
    Matcher blank = BLANK.matcher(command);
    Matcher piece = PIECE.matcher(command);
    int at = 0;
    while (at < command.length()) {
      if (blank.region(at, command.length()).lookingAt()) {
        at = blank.end();
        if (word != null) {
          words.add(word.toString());
          word = null;
        }
      } else if (piece.region(at, command.length()).lookingAt()) {
        at = piece.end();
        word = word == null ? new StringBuilder() : word;
        word.append(
            piece.group(1) != null
                ? piece.group(1).replaceAll("\\\\([\"\\\\$`])", "$1")
                : piece.group(piece.group(2) != null ? 2 : piece.group(3) != null ? 3 : 4));
      } else {
        throw CommandException.usage(
            "SERVER_COMMAND", "Expected quotes in pairs in --server, but one is open. Check it.");
      }
    }
    if (word != null) {
      words.add(word.toString());
    }
    return words;
  }
}
