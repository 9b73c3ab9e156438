package dev.ichido.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SchemaHistoryTest {
  private static final SchemaHistory HISTORY = new SchemaHistory(Path.of("src/history"));
  private static final String PREFIX = "p.";

  static Stream<TopicSpec> topics() {
    return new Topics("p").specs(1, (short) 1).stream();
  }

  private static String subject(TopicSpec topic) {
    return topic.subject().substring(PREFIX.length());
  }

  private static List<String> subjects() {
    return topics().map(SchemaHistoryTest::subject).toList();
  }

  @BeforeAll
  static void publishWhenAsked() {
    String mode = System.getProperty("schemas.publish", "");
    if (mode.equals("draft") || mode.equals("release")) {
      topics().forEach(topic -> HISTORY.publishDraft(subject(topic), topic.schema()));
    }
    if (mode.equals("release")) {
      HISTORY.release(subjects());
    }
  }

  @ParameterizedTest
  @MethodSource("topics")
  void currentSchemaIsTheLastPublishedOneAndFitsEveryOther(TopicSpec topic) {
    assertThat(HISTORY.problems(subject(topic), topic.schema())).isEmpty();
  }

  @Test
  void releasedVersionsAreNeverEdited() {
    assertThat(HISTORY.editedReleases()).isEmpty();
    assertThat(HISTORY.strays(subjects())).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("topics")
  void everyFieldIsDocumentedAndEveryChoiceHasAnAnswerForTheUnknown(TopicSpec topic) {
    assertThat(topic.schema().getDoc()).isNotBlank();
    assertThat(topic.schema().getFields())
        .allSatisfy(field -> assertThat(field.doc()).as(field.name()).isNotBlank())
        .map(Schema.Field::schema)
        .filteredOn(schema -> schema.getType() == Schema.Type.ENUM)
        .allSatisfy(schema -> assertThat(schema.getEnumDefault()).isEqualTo("UNRECOGNIZED"));
  }

  private static Schema record(String fields) {
    return new Schema.Parser()
        .parse(
            ("{'type':'record','name':'R','fields':[{'name':'a','type':'string'}" + fields + "]}")
                .replace('\'', '"'));
  }

  @Test
  void changeIsNoticedUntilItIsPublished(@TempDir Path folder) {
    SchemaHistory history = new SchemaHistory(folder);
    assertThat(history.problems("s", record(""))).singleElement().asString().contains("draft");

    history.publishDraft("s", record(""));
    assertThat(history.problems("s", record(""))).isEmpty();
    Schema wider = record(",{'name':'b','type':'int','default':0}");
    assertThat(history.problems("s", wider)).singleElement().asString().contains("v1");

    history.publishDraft("s", wider);
    assertThat(folder.resolve("s/v2.avsc")).doesNotExist();
    assertThat(history.problems("s", wider)).isEmpty();
  }

  @Test
  void releasedVersionIsFollowedByAnotherAndNeverEdited(@TempDir Path folder) throws Exception {
    SchemaHistory history = new SchemaHistory(folder);
    history.publishDraft("s", record(""));
    history.release(List.of("s"));
    history.publishDraft("s", record(",{'name':'b','type':'int','default':0}"));

    assertThat(folder.resolve("s/v2.avsc")).exists();
    assertThat(history.editedReleases()).isEmpty();
    assertThat(history.strays(List.of("s"))).isEmpty();

    Files.writeString(
        folder.resolve("s/v1.avsc"), record(",{'name':'c','type':'int','default':0}").toString());
    assertThat(history.editedReleases()).singleElement().asString().contains("s/v1.avsc");
    Files.delete(folder.resolve("s/v1.avsc"));
    assertThat(history.editedReleases()).hasSize(1);
    assertThat(history.strays(List.of("s"))).containsExactly("s/v2.avsc");
  }

  @Test
  void everyReleasedVersionIsHeldAgainstTheCurrentOne(@TempDir Path folder) {
    SchemaHistory history = new SchemaHistory(folder);
    history.publishDraft("s", record(""));
    history.release(List.of("s"));
    history.publishDraft("s", record(",{'name':'b','type':'int','default':0}"));
    history.release(List.of("s"));
    Schema required = record(",{'name':'b','type':'int'}");
    history.publishDraft("s", required);

    assertThat(history.problems("s", required))
        .singleElement()
        .asString()
        .contains("v1")
        .contains("READER_FIELD_MISSING_DEFAULT_VALUE");
  }
}
