package dev.ichido.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditsTest {
  @TempDir Path temp;

  @Test
  void whatARelayFoundOutlivesItAndOneThatDoesNotTellIsNamed() throws Exception {
    AtomicReference<String> meters = new AtomicReference<>("");
    try (StandIn relay = new StandIn(temp, "relay", "/metrics", meters::get)) {
      Audits audits = new Audits(relay.http());
      audits.watch(relay.instance());
      Jvm jvm = relay.jvm();
      assertThat(audits.found()).isZero();
      jvm.start();
      meters.set("ichido_relay_audit_missing_total{slot=\"s\"} 3.0\n");
      assertThat(audits.found()).isEqualTo(3);
      jvm.kill();
      assertThat(audits.found()).isEqualTo(3);
      meters.set("ichido_relay_audit_missing_total{slot=\"s\"} 2.0\n");
      jvm.start();
      assertThat(audits.found()).isEqualTo(5);
      jvm.end();
      assertThat(audits.found()).isEqualTo(5);
      assertThat(audits.takeUnread()).isEmpty();
      jvm.start();
      meters.set("");
      jvm.kill();
      assertThat(audits.takeUnread()).containsExactly("relay");
      assertThat(audits.takeUnread()).isEmpty();
    }
  }
}
