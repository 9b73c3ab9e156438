package dev.ichido.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is refused before anything is started: one message, exit code 2, no stack trace. */
class CommandLineTest {
  @TempDir Path temp;

  @Test
  void helpAndVersionGoToStandardOutput() {
    assertThat(Ran.of("--version").out()).startsWith("ichido ").doesNotContain("${");
    assertThat(Ran.of("demo", "--help").out()).contains("--deliveries");
    assertThat(Ran.of("--version").code()).isZero();
  }

  @Test
  void nothingAndUnknownCommandsAndOptionsAreUsageErrors() {
    assertThat(Ran.of().code()).isEqualTo(2);
    assertThat(Ran.of("dmeo").code()).isEqualTo(2);
    assertThat(Ran.of("demo", "--deliveries", "many").code()).isEqualTo(2);
    refused(Ran.of("demo", "--deliveries", "0", "--data", folder()), "DELIVERIES");
  }

  @Test
  void aMalformedLineStartsNothing() throws IOException {
    Path input = Files.writeString(temp.resolve("in.jsonl"), "{\"tool\":\"a\",}\n");
    refused(Ran.of("demo", "--input", input.toString(), "--data", folder()), "INPUT_LINE");
    assertThat(Path.of(folder())).doesNotExist();
  }

  @Test
  void aWriteWithoutIdentityStartsNothing() throws IOException {
    Path input =
        Files.writeString(temp.resolve("in.jsonl"), "{\"tool\":\"pay\",\"tool_call_id\":\"c\"}\n");
    Ran ran = Ran.of("demo", "--input", input.toString(), "--data", folder());
    refused(ran, "INPUT_IDENTITY");
    assertThat(ran.err()).contains("line 1").contains("run is missing");
    assertThat(Path.of(folder(), "postgres")).doesNotExist();
  }

  @Test
  void anUnknownToolIsRefusedUnderAStrictConfiguration() throws IOException {
    Path config = config("actions: { known: { effect: read } }\n");
    Ran ran = Ran.of("demo", "--strict", "--config", config.toString(), "--data", folder());
    refused(ran, "TOOL_UNKNOWN");
    assertThat(ran.err()).contains("orders.find").contains("line 1");
  }

  @Test
  void aTypoInTheConfigurationIsNamedWithItsLine() throws IOException {
    Path config = config("kafka:\n  bootstrap.servers: x:1\nprocesor:\n  threads: 2\n");
    for (String role : new String[] {"relay", "processor", "executor", "inbox", "migrate"}) {
      Ran ran = Ran.of(role, "--config", config.toString());
      refused(ran, "CONFIG_KEY_UNKNOWN");
      assertThat(ran.err()).contains("line 3").contains("processor");
    }
  }

  @Test
  void scenariosThatAreNotThereAreBadUsage() throws IOException {
    refused(Ran.of("conformance", temp.resolve("none.jsonl").toString()), "SCENARIOS_UNREADABLE");
    refused(Ran.of("conformance", temp.toString(), "--json"), "SCENARIOS_UNREADABLE");
    Path blank = Files.writeString(temp.resolve("blank.jsonl"), "\n");
    refused(Ran.of("conformance", blank.toString()), "SCENARIOS_MISSING");
  }

  @Test
  void aFaultScenarioThatIsNotThereIsBadUsage() throws IOException {
    Path contract =
        config("actions: { pay: { effect: write, http: { url: 'https://a.example/x' } } }\n");
    refused(Ran.of("faults", "--only", "pay-clean"), "FAULTS_USAGE");
    refused(
        Ran.of("faults", "--contract", contract.toString(), "--only", "crash-relay"),
        "FAULTS_USAGE");
    assertThat(Ran.of("faults", "--contract", contract.toString(), "--list").out())
        .contains("pay-clean\n")
        .doesNotContain("crash-relay");
  }

  @Test
  void aNumberOutOfItsRangeIsBadUsage() throws IOException {
    Path config = config("kafka: { bootstrap.servers: 'x:1' }\n");
    String[] settings = {"--config", config.toString()};
    refused(Ran.of("relay", "--http-port", "99999", settings[0], settings[1]), "OPTION_RANGE");
    refused(Ran.of("operation", "list", "--limit", "-1"), "OPTION_RANGE");
    refused(Ran.of("bench", "--rate", "NaN"), "OPTION_RANGE");
    refused(
        Ran.of("publish", "--action", "a", "--operation-id", "order-2026-0001.a", "--wait", "-1"),
        "WAIT");
    refused(Ran.of("capture", "--out", temp.resolve("none/x").toString()), "CAPTURE_FILE");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '#',
      value = {
        "srv --root=\"/my docs\" | srv,--root=/my docs",
        "'/a b'/c | /a b/c",
        "/a\\ b c | /a b,c",
        "a \"\" '' | a,,",
        "  npx -y \t @x/y . | npx,-y,@x/y,.",
        "\"a\\\"b\\n\" | a\"b\\n",
      })
  void aCommandIsSplitAsAShellSplitsIt(String command, String words) {
    assertThat(McpCommand.words(command)).containsExactly(words.split(",", -1));
  }

  @Test
  void anOpenQuoteOrAHeaderForAProgramIsBadUsage() {
    refused(Ran.of("mcp", "--server", "srv 'a", "--tenant", "t"), "SERVER_COMMAND");
    refused(Ran.of("mcp", "--server", "srv", "--header", "a=b", "--tenant", "t"), "HEADER");
  }

  @Test
  void aMissingSettingIsNamed() throws IOException {
    Ran ran = Ran.of("relay", "--config", config("topics: { prefix: x }\n").toString());
    refused(ran, "CONFIG_VALUE_MISSING");
    assertThat(ran.err()).contains("kafka.bootstrap.servers");
  }

  @Test
  void aWrongPolicyIsRefusedBeforeTheStackStarts() throws IOException {
    Path config = config("actions: { pay: { effect: write, lese: 5s } }\n");
    Ran ran = Ran.of("up", "--config", config.toString(), "--data", folder());
    refused(ran, "POLICY_MEMBER_UNKNOWN");
    assertThat(Path.of(folder(), "postgres")).doesNotExist();
  }

  @Test
  void aPortInUseIsNamed() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Ran ran =
          Ran.of("up", "--http-port", String.valueOf(taken.getLocalPort()), "--data", folder());
      refused(ran, "PORT_IN_USE");
      assertThat(ran.err()).contains(String.valueOf(taken.getLocalPort()));
    }
  }

  @Test
  void commandsThatNeedAStackSayHowToGetOne() {
    refused(Ran.of("replies", "--data", folder()), "NO_STACK");
    assertThat(Ran.of("health", "--data", folder()).code()).isEqualTo(1);
  }

  /** A system that has forgotten an operation would run it again. */
  @Test
  void whatASystemKeepsIsNotMadeYoungerInIt() {
    refused(Ran.of("replay", "--shift-to-now", "--data", folder()), "SHIFT_WITHOUT_A_FILE");
  }

  @Test
  void theTopologyIsPrinted() {
    Ran ran = Ran.of("topology", "--prefix", "shop");
    assertThat(ran.code()).isZero();
    assertThat(ran.out()).contains("shop.intents").contains("shop.replies");
  }

  private String folder() {
    return temp.resolve("data").toString();
  }

  private Path config(String text) throws IOException {
    return Files.writeString(temp.resolve("ichido.yaml"), text);
  }

  private static void refused(Ran ran, String code) {
    assertThat(ran.code()).as(ran.err()).isEqualTo(2);
    assertThat(ran.err()).contains("ichido: " + code + ": Expected").doesNotContain("\tat ");
    assertThat(ran.out()).isEmpty();
  }
}
