package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class McpStreamsTest {
  private static final ObjectNode QUESTION =
      json("{\"id\":\"q\",\"method\":\"elicitation/create\"}");
  private static final ObjectNode CHANGE =
      json("{\"method\":\"notifications/tools/list_changed\"}");

  private final McpStreams streams = new McpStreams();

  @Test
  void aMessageGoesToTheRequestItBelongsToAndAStreamEndsWithItsAnswers() throws Exception {
    McpStreams.Stream first = streams.open(List.of(request(1, "a")));
    McpStreams.Stream general = streams.open();
    McpStreams.Stream second = streams.open(List.of(request(2, "b")));

    streams.accept(
        json("{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"a\"}}"));
    streams.accept(QUESTION);
    streams.accept(CHANGE);
    streams.accept(json("{\"id\":1,\"result\":{}}"));
    streams.accept(json("{\"id\":2,\"result\":{}}"));
    streams.close();

    assertThat(written(first)).contains("progress").contains("\"id\":1").doesNotContain("\"q\"");
    assertThat(written(second)).contains("\"q\"").contains("\"id\":2").doesNotContain("progress");
    assertThat(written(general)).contains("list_changed").doesNotContain("\"id\"");
  }

  @Test
  void whatComesWhileNoStreamIsOpenIsKeptUnlessItIsAnAnswer() throws Exception {
    McpStreams.Stream gone = streams.open(List.of(request(1, "a")));
    gone.close();
    streams.accept(json("{\"id\":1,\"result\":{}}"));
    streams.accept(QUESTION);
    streams.accept(CHANGE);
    McpStreams.Stream general = streams.open();
    streams.close();
    assertThat(written(general))
        .isEqualTo(
            "event: message\ndata: " + QUESTION + "\n\nevent: message\ndata: " + CHANGE + "\n\n");
  }

  @Test
  void aStreamEndsWhenItsLastRequestIsCancelled() throws Exception {
    McpStreams.Stream stream = streams.open(List.of(request(1, "a")));
    streams.forget(json("{\"id\":1}").get("id"));
    assertThat(written(stream)).isEmpty();
  }

  private static String written(McpStreams.Stream stream) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    stream.writeTo(out);
    return out.toString(UTF_8);
  }

  private static ObjectNode request(int id, String token) {
    return json(
        "{\"id\":%d,\"method\":\"tools/call\",\"params\":{\"_meta\":{\"progressToken\":\"%s\"}}}"
            .formatted(id, token));
  }

  private static ObjectNode json(String text) {
    try {
      return (ObjectNode) McpJson.JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }
}
