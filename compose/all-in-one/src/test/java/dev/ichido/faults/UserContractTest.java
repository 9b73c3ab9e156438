package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.cli.CommandException;
import dev.ichido.executor.http.ExecutorContracts;
import dev.ichido.topology.policy.LocatedTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserContractTest {
  @TempDir Path folder;

  private UserContract read(String text) throws IOException {
    return UserContract.read(Files.writeString(folder.resolve("c.yaml"), text), "{}");
  }

  private static final String PAYMENT =
      """
      actions:
        look: { effect: read, http: { url: 'https://a.example/x' } }
        pay.out:
          remote: { dedupes_on_key: true, dedupe_window: 24h, absent_after: { reads: 3, over: 10m } }
          http:
            url: https://a.example/v1/payments/{arguments.customer.id}
            hosts: ["a.example:443"]
            headers: { Authorization: "Bearer ${env:NOT_SET}" }
            key: { header: Idempotency-Key }
            answers: { expected: [202], terminal: [422] }
            reference: $.data[0].id
            status:
              url: https://a.example/v1/payments?q={arguments.order}
              expected: [200]
              found: $.data[0]
              empty_is_absent: true
              reference: $.data[0].id
      """;

  @Test
  void whatJudgesAnswersStaysAndWhereAndHowLongAreReplaced() throws IOException {
    UserContract contract = read(PAYMENT);
    JsonNode actions =
        LocatedTree.read(
                "rig",
                "actions:\n" + contract.configuration().replace("LEGACY", "http://127.0.0.1:9"))
            .root()
            .path("actions");
    JsonNode http = actions.at("/pay.out/http");
    assertThat(actions.has("look")).isFalse();
    assertThat(http.path("url").asText())
        .isEqualTo("http://127.0.0.1:9/v1/payments/{arguments.customer.id}");
    assertThat(http.has("hosts")).isFalse();
    assertThat(http.at("/answers/terminal/0").asInt()).isEqualTo(422);
    assertThat(http.at("/headers/Authorization").asText()).isEqualTo("Bearer secret");
    assertThat(http.at("/headers/X-Mirror-Status").asText()).isEqualTo("202");
    assertThat(http.at("/headers/X-Mirror-Key").asText()).isEqualTo("{key}");
    assertThat(decoded(http.at("/headers/X-Mirror-Body")))
        .isEqualTo("{\"data\":[{\"id\":\"@reference\"}]}");
    assertThat(decoded(http.at("/status/headers/X-Mirror-Body")))
        .isEqualTo("{\"data\":[{\"id\":\"@reference\"}]}");
    assertThat(http.at("/status/headers/X-Mirror-Absent-Status").asText()).isEqualTo("200");
    assertThat(actions.at("/pay.out/remote/absent_after/reads").asInt()).isEqualTo(3);
    assertThat(actions.at("/pay.out/remote/absent_after/over").asText()).isEqualTo("1s");
    assertThat(ExecutorContracts.parse(actions)).containsOnlyKeys("pay.out");
  }

  @Test
  void everyFaultOfARemoteIsTried() throws IOException {
    assertThat(read(PAYMENT).scenarios())
        .extracting(Scenario::id)
        .doesNotHaveDuplicates()
        .contains("pay-out-reset-after-commit", "pay-out-crash-executor", "pay-out-lying-404");
  }

  @Test
  void aFileWithoutAContractIsRefused() {
    assertThatThrownBy(() -> read("actions: { look: { effect: read } }\n"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("http contract");
  }

  private static String decoded(JsonNode header) {
    return new String(Base64.getDecoder().decode(header.asText()), UTF_8);
  }
}
