package dev.ichido.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.Socket;
import org.junit.jupiter.api.Test;

class PatientSocketsTest {
  @Test
  void onlyALookForChangesLastsLonger() throws Exception {
    try (Socket socket = new PatientSockets().createSocket()) {
      socket.setSoTimeout(1);
      assertThat(socket.getSoTimeout()).isGreaterThan(1);
      socket.setSoTimeout(0);
      assertThat(socket.getSoTimeout()).isZero();
      socket.setSoTimeout(2_000);
      assertThat(socket.getSoTimeout()).isEqualTo(2_000);
    }
  }
}
