package dev.ichido.remotes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.ichido.remotes.Raw.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a status read says in each mode, for every kind. */
@Tag("FR-17")
final class StatusReadTest {
  private static final String NOW = "Mon, 05 Jan 2026 12:00:00 GMT";

  @TempDir Path folder;

  private RemoteServer started(RemoteKind kind) {
    return RemoteServer.start(
        RemoteConfig.of(kind, folder.resolve("book")).withClock(FixedClock.clock()));
  }

  /** A write that every kind takes. */
  static Reply write(RemoteServer server, String key, String naturalKey) throws IOException {
    return Raw.call(
        server,
        "POST",
        server.kind() == RemoteKind.GCLOUD
            ? "/compute/v1/projects/p/zones/z/instances?requestId=" + key
            : "/things",
        "{\"Action\":\"RunInstances\",\"ClientToken\":\""
            + key
            + "\",\"natural_key\":\""
            + naturalKey
            + "\"}",
        "X-Business-Key",
        naturalKey,
        "Idempotency-Key",
        server.kind() == RemoteKind.IETF ? "\"" + key + "\"" : key,
        "Repeatability-Request-ID",
        key,
        "Repeatability-First-Sent",
        NOW);
  }

  private static Reply status(RemoteServer server, String naturalKey) throws IOException {
    return Raw.get(server, "/status?natural_key=" + naturalKey);
  }

  @ParameterizedTest
  @EnumSource(RemoteKind.class)
  void honestReadSaysWhatIs(RemoteKind kind) throws Exception {
    try (RemoteServer server = started(kind)) {
      assertThat(status(server, "n1").status()).isEqualTo(404);
      assertThat(write(server, "8e03978e-40d5-43e8-bc93-6894a57f9324", "n1").status())
          .isBetween(200, 201);
      Reply found = status(server, "n1");
      assertThat(found.status()).isEqualTo(200);
      assertThat(found.json().path("found").asBoolean()).isTrue();
      assertThat(found.json().path("state").asText()).isEqualTo("committed");
      Effect effect = server.book().effects().getFirst();
      assertThat(found.json().path("reference").asText()).isEqualTo(effect.reference());
      if (kind.keyed()) {
        assertThat(
                Raw.get(server, "/status?key=8e03978e-40d5-43e8-bc93-6894a57f9324")
                    .json()
                    .path("reference")
                    .asText())
            .isEqualTo(effect.reference());
        assertThat(Raw.get(server, "/status?reference=" + effect.reference()).status())
            .isEqualTo(200);
      }
      assertThat(server.calls().reads()).isEqualTo(kind.keyed() ? 4 : 2);
    }
  }

  @ParameterizedTest
  @EnumSource(RemoteKind.class)
  void laggingReadSaysAbsentForReadsAndTime(RemoteKind kind) throws Exception {
    try (RemoteServer server = started(kind)) {
      server.faults().status(StatusMode.lagging(2, Duration.ofSeconds(3)));
      status(server, "n1");
      status(server, "n1");
      write(server, "8e03978e-40d5-43e8-bc93-6894a57f9324", "n1");
      assertThat(status(server, "n1").status()).isEqualTo(404);
      assertThat(status(server, "n1").status()).isEqualTo(404);
      assertThat(status(server, "n1").status()).as("time is not over").isEqualTo(404);
      server.clock().advance(Duration.ofSeconds(3));
      assertThat(status(server, "n1").status()).isEqualTo(200);

      write(server, "9e03978e-40d5-43e8-bc93-6894a57f9324", "n2");
      server.clock().advance(Duration.ofSeconds(3));
      assertThat(status(server, "n2").status()).as("reads are not over").isEqualTo(404);
      assertThat(status(server, "n2").status()).isEqualTo(404);
      assertThat(status(server, "n2").status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @EnumSource(RemoteKind.class)
  void readIsUnavailableOrLiesUntilTold(RemoteKind kind) throws Exception {
    try (RemoteServer server = started(kind)) {
      write(server, "8e03978e-40d5-43e8-bc93-6894a57f9324", "n1");
      server.faults().status(StatusMode.UNAVAILABLE);
      assertThat(status(server, "n1").status()).isEqualTo(503);
      server.faults().status(StatusMode.DENIES);
      assertThat(status(server, "n1").status()).isEqualTo(404);
      server.faults().status(StatusMode.INVENTS);
      assertThat(status(server, "n2").status()).isEqualTo(200);
      server.faults().status(StatusMode.HONEST);
      assertThat(status(server, "n1").status()).isEqualTo(200);
      assertThat(status(server, "n2").status()).isEqualTo(404);
    }
  }

  @ParameterizedTest
  @EnumSource(RemoteKind.class)
  void queuedFaultsOfReadsMeetReadsOnly(RemoteKind kind) throws Exception {
    try (RemoteServer server = started(kind)) {
      server
          .faults()
          .add(
              Fault.of(FaultKind.STATUS_UNAVAILABLE),
              Fault.of(FaultKind.LYING_404).times(2),
              Fault.of(FaultKind.OVERSIZE_BODY).withBytes(100_000).onStatusReads());
      assertThat(write(server, "8e03978e-40d5-43e8-bc93-6894a57f9324", "n1").status())
          .isBetween(200, 201);
      assertThat(status(server, "n1").status()).isEqualTo(503);
      assertThat(status(server, "n1").status()).isEqualTo(404);
      assertThat(status(server, "n1").status()).isEqualTo(404);
      assertThat(status(server, "n1").bytes()).hasSize(100_000);
      assertThat(status(server, "n1").status()).isEqualTo(200);
      assertThat(server.faults().pending()).isEmpty();
    }
  }
}
