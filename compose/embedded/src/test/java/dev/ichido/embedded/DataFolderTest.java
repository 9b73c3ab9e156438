package dev.ichido.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {
  @TempDir Path temp;

  @Test
  void theSecondOwnerIsRefusedAndToldWhoTheFirstIs() {
    Path folder = temp.resolve("data");
    try (DataFolder first = DataFolder.open(folder)) {
      assertThat(first.path()).isEqualTo(folder.toAbsolutePath());
      assertThatThrownBy(() -> DataFolder.open(folder))
          .isInstanceOfSatisfying(
              EmbeddedServerException.class,
              e -> assertThat(e.code()).isEqualTo(EmbeddedServerException.Code.DATA_FOLDER_IN_USE))
          .hasMessageContaining("process " + ProcessHandle.current().pid())
          .hasMessageContaining("--data");
      // A refused one must not loosen the lock of the owner.
      assertThatThrownBy(() -> DataFolder.open(folder)).hasMessageContaining("uses it");
    }
    DataFolder.open(folder).close();
  }

  @Test
  void nobodyElseMayReadTheFolder() throws IOException {
    try (DataFolder folder = DataFolder.open(temp.resolve("deep/data"))) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.path())))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void aFileInItsPlaceIsNamed() throws IOException {
    Path file = Files.writeString(temp.resolve("file"), "");
    assertThatThrownBy(() -> DataFolder.open(file))
        .isInstanceOfSatisfying(
            EmbeddedServerException.class,
            e -> assertThat(e.code()).isEqualTo(EmbeddedServerException.Code.DATA_FOLDER_UNUSABLE))
        .hasMessageContaining(file.toString());
  }

  @RepeatedTest(50)
  void aFreePortIsNoneThatAnOutgoingConnectionCouldTake() {
    assertThat(LoopbackPorts.require("database", LoopbackPorts.free())).isBetween(1024, 32_767);
  }

  @Test
  void aTakenPortIsNamed() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> LoopbackPorts.require("database", taken.getLocalPort()))
          .isInstanceOfSatisfying(
              EmbeddedServerException.class,
              e -> assertThat(e.code()).isEqualTo(EmbeddedServerException.Code.PORT_IN_USE))
          .hasMessageContaining("database")
          .hasMessageContaining(String.valueOf(taken.getLocalPort()));
    }
  }
}
