package dev.ichido.demo;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.cli.CommandException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToolCallReaderTest {
  @TempDir Path temp;

  @Test
  void thePlainShapeIsRead() throws IOException {
    assertThat(
            read(
                """
                {"tool":"pay","arguments":{"amount":1.50, "amount":2},"tenant":"t","operation_id":"o","run":"r","step":0,"tool_call_id":"c","effect":"read","target":"x","result":"passed over"}
                """))
        .containsExactly(
            new ToolCall(
                1,
                "pay",
                "{\"amount\":1.50, \"amount\":2}",
                "t",
                "o",
                "r",
                "0",
                "c",
                ToolCall.Effect.READ,
                "x"));
  }

  @Test
  void threeRuntimesShapesAreRead() throws IOException {
    List<ToolCall> calls =
        read(
            """
            {"type":"tool_call","name":"a","args":{"n":9007199254740993},"id":"call_1","run":"r","step":1}

            {"type":"function_call","call_id":"call_2","name":"b","arguments":"{\\"n\\": 1E400}","run":"r","step":2}
            {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"c","arguments":{"é":"\\u00e9"},"_meta":{"run":"r","step":3}}}
            """);
    assertThat(calls).extracting(ToolCall::tool).containsExactly("a", "b", "c");
    assertThat(calls)
        .extracting(ToolCall::arguments)
        .containsExactly("{\"n\":9007199254740993}", "{\"n\": 1E400}", "{\"é\":\"\\u00e9\"}");
    assertThat(calls).extracting(ToolCall::toolCallId).containsExactly("call_1", "call_2", "7");
    assertThat(calls).extracting(ToolCall::step).containsExactly("1", "2", "3");
    assertThat(calls).extracting(ToolCall::line).containsExactly(1, 3, 4);
    assertThat(calls).allMatch(ToolCall::isWrite);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"tool\":\"a\"  | a JSON object",
        "[1]                | a JSON object",
        "{\"tool\":\"a\"} x | JSON object",
        "{\"arguments\":{}} | the name of a tool",
        "{\"tool\":\"a\",\"effect\":\"maybe\"} | effect to be read or write",
      })
  void aMalformedLineIsNamed(String line, String expected) {
    assertThatThrownBy(() -> read("{\"tool\":\"fine\"}\n" + line + "\n"))
        .isInstanceOfSatisfying(CommandException.class, e -> assertThat(e.exitCode()).isEqualTo(2))
        .hasMessageContaining(expected)
        .hasMessageContaining("line 2 of input");
  }

  @Test
  void otherEncodingsAndEmptyAndMissingFilesAreSaid() throws IOException {
    Path latin = Files.write(temp.resolve("latin"), "{\"tool\":\"é\"}".getBytes(ISO_8859_1));
    assertThatThrownBy(() -> ToolCallReader.read(latin)).hasMessageContaining("not UTF-8");
    Path empty = Files.writeString(temp.resolve("empty"), "\n \n");
    assertThatThrownBy(() -> ToolCallReader.read(empty)).hasMessageContaining("at least one");
    assertThatThrownBy(() -> ToolCallReader.read(temp.resolve("none")))
        .hasMessageContaining("no such file");
  }

  @Test
  void theSampleHasThreeRuntimesAndNoIdTwice() {
    List<ToolCall> calls = DemoSample.read();
    assertThat(calls).hasSizeGreaterThanOrEqualTo(40);
    assertThat(calls)
        .extracting(call -> call.run() + "/" + call.step() + "/" + call.toolCallId())
        .doesNotHaveDuplicates();
    assertThat(calls).anyMatch(call -> !call.isWrite());
  }

  private static List<ToolCall> read(String text) throws IOException {
    return ToolCallReader.read("input", new ByteArrayInputStream(text.getBytes(UTF_8)));
  }
}
