package dev.ichido.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokensTest {
  private static final String TOKEN = "0123456789abcdef0123456789abcdef";

  @TempDir Path temp;

  @Test
  void aLineNamesOneCaller() throws IOException {
    Tokens tokens = read("# for development\n\n" + TOKEN + " demo agent:demo\n");
    assertThat(tokens.find(TOKEN)).contains(new Caller("demo", "agent:demo"));
    assertThat(tokens.find(TOKEN + "0")).isEmpty();
    assertThat(tokens.find("")).isEmpty();
  }

  @Test
  void aShortTokenIsRefusedByItsLineAndNotShown() {
    assertThatExceptionOfType(GatewayException.class)
        .isThrownBy(() -> read("\nshort-token demo agent:demo\n"))
        .satisfies(e -> assertThat(e.code()).isEqualTo("TOKENS_UNREADABLE"))
        .withMessageContaining("line 2")
        .withMessageNotContaining("short-token");
  }

  private Tokens read(String text) throws IOException {
    return Tokens.read(Files.writeString(temp.resolve("tokens"), text));
  }
}
