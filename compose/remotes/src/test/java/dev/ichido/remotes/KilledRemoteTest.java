package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.remotes.Raw.Reply;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Remotes in processes of their own, ended by kill -9. */
final class KilledRemoteTest {
  private record Running(Process process, int port) {
    URI uri() {
      return URI.create("http://127.0.0.1:" + port);
    }
  }

  @TempDir Path folder;
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void endProcesses() {
    processes.forEach(Process::destroyForcibly);
  }

  private Running start(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                RemoteServer.class.getName(),
                "--book",
                folder.resolve("book").toString()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    processes.add(process);
    BufferedReader out = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
    String line = out.readLine();
    assertThat(line).as("the line that says that it listens").isNotNull();
    return new Running(process, Json.parse(line.getBytes(UTF_8)).path("port").asInt());
  }

  private static void kill(Running running) throws InterruptedException {
    running.process().destroyForcibly().waitFor();
  }

  @Test
  void everyAnsweredEffectIsInTheBookAfterKillNine() throws Exception {
    Running running = start("--kind", "legacy", "--natural-key", "body:/order/id");
    Set<String> answered = ConcurrentHashMap.newKeySet();
    CountDownLatch enough = new CountDownLatch(200);
    try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
      for (int t = 0; t < 16; t++) {
        int thread = t;
        threads.execute(
            () -> {
              try {
                for (int i = 0; ; i++) {
                  Reply reply =
                      Raw.call(
                          running.port(),
                          "POST",
                          "/payments",
                          "{\"order\":{\"id\":\"o-" + thread + "-" + i + "\"}}");
                  answered.add(reply.json().path("reference").asText());
                  enough.countDown();
                }
              } catch (IOException e) {
                // Killed.
              }
            });
      }
      enough.await();
      kill(running);
    }
    BookReading reading = Book.read(folder.resolve("book"));
    assertThat(reading.effects()).extracting(Effect::reference).containsAll(answered);
    assertThat(reading.duplicates()).isEmpty();

    Running again = start("--kind", "legacy", "--natural-key", "body:/order/id");
    try (RemoteControl control = new RemoteControl(again.uri())) {
      assertThat(control.book()).isEqualTo(reading);
      Raw.call(again.port(), "POST", "/payments", "{\"order\":{\"id\":\"o-0-0\"}}");
      assertThat(control.book().duplicates()).isEqualTo(Map.of("o-0-0", 2));
    }
  }

  @Test
  void keyIsRememberedByTheNextProcess() throws Exception {
    Running running = start("--kind", "stripe");
    try (RemoteControl control = new RemoteControl(running.uri())) {
      control.add(Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT), Fault.of(FaultKind.HOLD_BEFORE_COMMIT));
      try (Raw first = new Raw(running.port());
          Raw held = new Raw(running.port())) {
        first.send("POST", "/v1/charges", "{}", "Idempotency-Key", "k1", "X-Business-Key", "b1");
        Awaitility.await().until(() -> control.held() == 1);
        held.send("POST", "/v1/charges", "{}", "Idempotency-Key", "k2", "X-Business-Key", "b2");
        Awaitility.await().until(() -> control.held() == 2);
        kill(running);
        assertThatThrownBy(first::receive).isInstanceOf(IOException.class);
        assertThatThrownBy(held::receive).isInstanceOf(IOException.class);
      }
    }
    assertThat(Book.read(folder.resolve("book")).countByKey()).isEqualTo(Map.of("b1", 1));

    Running again = start("--kind", "stripe");
    for (String key : new String[] {"1", "2"}) {
      Reply reply =
          Raw.call(
              again.port(),
              "POST",
              "/v1/charges",
              "{}",
              "Idempotency-Key",
              "k" + key,
              "X-Business-Key",
              "b" + key);
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.header("Idempotent-Replayed")).isEqualTo(key.equals("1") ? "true" : "");
    }
    assertThat(Book.read(folder.resolve("book")).countByKey()).isEqualTo(Map.of("b1", 1, "b2", 1));
  }

  @Test
  void anotherProcessIsControlledOverHttp() throws Exception {
    Running running = start("--kind", "stripe", "--window", "PT1H");
    try (RemoteControl control = new RemoteControl(running.uri())) {
      control.add(Fault.of(FaultKind.REFUSAL).withStatus(403).forBusinessKey("b2"));
      assertThat(charge(running, "k1", "b1")).isEqualTo(200);
      assertThat(charge(running, "k2", "b2")).isEqualTo(403);
      control.advanceClock(Duration.ofHours(1));
      assertThat(charge(running, "k1", "b1")).isEqualTo(200);
      assertThat(control.book().duplicates()).isEqualTo(Map.of("b1", 2));
      assertThat(control.calls()).isEqualTo(new Calls(3, 0, Map.of("b1", 2, "b2", 1)));

      control.random(1, List.of(new Faults.Rule(1, Fault.of(FaultKind.STALE_PRECONDITION))));
      assertThat(charge(running, "k3", "b3")).isEqualTo(412);
      control.status(StatusMode.UNAVAILABLE);
      assertThat(Raw.call(running.port(), "GET", "/status?key=k1", "").status()).isEqualTo(503);
      control.clear();
      assertThat(Raw.call(running.port(), "GET", "/status?key=k1", "").status()).isEqualTo(200);
      assertThat(charge(running, "k3", "b3")).isEqualTo(200);

      control.add(Fault.of(FaultKind.REFUSE_CONNECTION).withDelay(Duration.ofMillis(100)));
      Awaitility.await().ignoreExceptions().until(() -> charge(running, "k4", "b4") == 200);
      assertThat(
              Raw.call(running.port(), "GET", "/_book?business_key=b4", "")
                  .json()
                  .path("count")
                  .asInt())
          .isEqualTo(1);

      Reply unknown = Raw.call(running.port(), "POST", "/_faults", "{\"fault\":\"nonsense\"}");
      assertThat(unknown.status()).isEqualTo(400);
      assertThat(unknown.json().path("code").asText()).isEqualTo("NOT_UNDERSTOOD");
    }
  }

  private static int charge(Running running, String key, String businessKey) throws IOException {
    return Raw.call(
            running.port(),
            "POST",
            "/v1/charges",
            "{}",
            "Idempotency-Key",
            key,
            "X-Business-Key",
            businessKey)
        .status();
  }
}
