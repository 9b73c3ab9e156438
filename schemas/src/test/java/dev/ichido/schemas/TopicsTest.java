package dev.ichido.schemas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicsTest {
  @Test
  void namesAreWireFormat() {
    assertThat(Topics.withDefaultPrefix().specs(1, (short) 1))
        .extracting(TopicSpec::name)
        .containsExactly(
            "ichido.intents",
            "ichido.commands",
            "ichido.results",
            "ichido.replies",
            "ichido.journal",
            "ichido.dead-letters");
  }

  @Test
  void everyTopicStampsArrivalAndHasTheSamePartitions() {
    assertThat(new Topics("x").specs(6, (short) 3))
        .allSatisfy(
            spec -> {
              assertThat(spec.partitions()).isEqualTo(6);
              assertThat(spec.replicationFactor()).isEqualTo((short) 3);
              assertThat(spec.configs())
                  .containsEntry("message.timestamp.type", "LogAppendTime")
                  .containsEntry("min.insync.replicas", "2")
                  .containsEntry("cleanup.policy", "delete");
              assertThat(spec.subject()).isEqualTo(spec.name() + "-value");
            });
  }

  @Test
  void decisionsAndRefusedRecordsAreKeptLongerThanWork() {
    var specs = new Topics("x").specs(1, (short) 1);
    long work = Long.parseLong(specs.get(0).configs().get("retention.ms"));

    assertThat(specs.subList(4, 6))
        .allSatisfy(
            spec ->
                assertThat(Long.parseLong(spec.configs().get("retention.ms"))).isGreaterThan(work));
  }

  @Test
  void deadLetterHasRoomForTheLargestRecord() {
    var specs = new Topics("x").specs(1, (short) 1);

    assertThat(Integer.parseInt(specs.get(5).configs().get("max.message.bytes")))
        .isGreaterThan(
            Integer.parseInt(specs.get(0).configs().get("max.message.bytes")) + 64 * 1024);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "x/y", ".", "..", "ü", "a\n"})
  void prefixThatKafkaRefusesIsRefused(String prefix) {
    assertThatThrownBy(() -> new Topics(prefix))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("topics.prefix");
  }

  @Test
  void numbersBelowOneAreRefused() {
    assertThatThrownBy(() -> new Topics("x").specs(0, (short) 1))
        .hasMessageContaining("topics.partitions");
    assertThatThrownBy(() -> new Topics("x").specs(1, (short) 0))
        .hasMessageContaining("topics.replication_factor");
  }

  @Test
  void publishedSchemaIsTheSourceFile() throws Exception {
    Schema source =
        new Schema.Parser().parse(Files.readString(Path.of("src/main/avro/ToolIntent.avsc")));

    assertThat(new Topics("x").specs(1, (short) 1).get(0).schema()).hasToString(source.toString());
    assertThat(PublishedSchema.of(source)).hasToString(source.toString());
  }
}
