package dev.ichido.cli;

import dev.ichido.app.Endpoints;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "health",
    mixinStandardHelpOptions = true,
    description =
        "Asks a running role, or the running stack, whether it is ready: exit code 0 when it is.")
final class HealthCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private DataOption data = new DataOption();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Ask at http.port of this configuration rather than the embedded stack.")
  private @Nullable Path config;

  @Override
  public Integer call() throws InterruptedException {
    Output output = Output.of(spec);
    String url = url();
    try (HttpClient client =
        HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(3)).build()) {
      var answer =
          client.send(
              HttpRequest.newBuilder(URI.create(url + "/health"))
                  .timeout(Duration.ofSeconds(5))
                  .build(),
              BodyHandlers.ofString());
      output.text(answer.body() + "\n");
      return answer.statusCode() == 200 ? ExitCode.HOLDS : ExitCode.DOES_NOT_HOLD;
    } catch (IOException e) {
      throw CommandException.failed(
          "HEALTH_UNREACHABLE",
          "Expected an answer at " + url + "/health, but there is none. Check that it runs.",
          e);
    }
  }

  private String url() {
    if (config == null) {
      return Endpoints.find(data.folder())
          .map(Endpoints::httpUrl)
          .orElseThrow(
              () ->
                  CommandException.failed(
                      "NO_STACK",
                      "Expected a stack that runs on "
                          + data.folder()
                          + ", but there is none. Start one with ichido up.",
                      null));
    }
    IchidoConfig.Http http = ConfigLoader.ofProcess().load(config).http();
    if (http.port() == 0) {
      throw CommandException.usage(
          "HTTP_PORT",
          "Expected http.port in " + config + ", but it is a free one that nobody knows. Set it.");
    }
    String host = http.host().equals("0.0.0.0") ? "127.0.0.1" : http.host();
    return "http://" + host + ":" + http.port();
  }
}
