package dev.ichido.remotes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BookTest {
  private static final Instant AT = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path folder;

  private static Effect write(Book book, String businessKey, String downstreamKey) {
    return book.append(
            new Book.Draft(
                "",
                businessKey,
                "n-" + businessKey,
                downstreamKey,
                version -> "r-" + downstreamKey,
                AT,
                "POST /x",
                "/x"),
            -1,
            "digest",
            AT,
            effect -> Optional.of(Answer.text(200, "text/plain", "answer of " + downstreamKey)))
        .orElseThrow();
  }

  @Test
  void whatHappenedIsFoundByEveryKeyAndByTime() {
    try (Book book = Book.open(folder.resolve("book"), "legacy")) {
      Effect first = write(book, "b1", "d1");
      Effect second = write(book, "b1", "d2");
      Effect third = write(book, "b2", "d3");

      BookReading reading = book.reading();
      assertThat(reading.byBusinessKey("b1")).containsExactly(first, second);
      assertThat(reading.byNaturalKey("n-b2")).containsExactly(third);
      assertThat(reading.byDownstreamKey("d2")).containsExactly(second);
      assertThat(reading.byReference("r-d3")).containsExactly(third);
      assertThat(reading.between(AT, AT.plusNanos(1))).hasSize(3);
      assertThat(reading.between(AT.plusNanos(1), AT.plusSeconds(1))).isEmpty();
      assertThat(book.countByKey()).containsOnly(entry("b1", 2), entry("b2", 1));
      assertThat(book.duplicates()).containsOnly(entry("b1", 2));
    }
  }

  @Test
  void reopenedBookHasTheSameEffectsAndKeptAnswers() {
    Path file = folder.resolve("book");
    List<Effect> before;
    try (Book book = Book.open(file, "stripe")) {
      write(book, "b1", "d1");
      book.keep(new Book.Kept("", "d9", "other", AT, Answer.empty(500)));
      before = book.effects();
    }
    try (Book book = Book.open(file, "stripe")) {
      assertThat(book.effects()).isEqualTo(before);
      assertThat(book.keptAtOpen()).extracting(Book.Kept::key).containsExactly("d1", "d9");
      assertThat(book.keptAtOpen().getFirst().answer().body())
          .isEqualTo("answer of d1".getBytes(UTF_8));
      assertThat(write(book, "b2", "d2").sequence()).isEqualTo(2);
      assertThat(book.version("", "/x")).isEqualTo(2);
    }
  }

  @Test
  void lastLineTornAnywhereIsDroppedAndTheNextEffectFollowsTheWholeOnes() throws Exception {
    Path file = folder.resolve("whole");
    long firstTwo;
    try (Book book = Book.open(file, "legacy")) {
      write(book, "b1", "d1");
      firstTwo = Files.size(file);
      write(book, "long".repeat(100), "d2");
    }
    byte[] whole = Files.readAllBytes(file);
    // The torn line is longer than the one that is written over it.
    for (int length = (int) firstTwo; length < whole.length; length += 13) {
      Path torn = folder.resolve("torn-" + length);
      Files.write(torn, Arrays.copyOf(whole, length));
      assertThat(Book.read(torn).effects()).hasSize(1);
      try (Book book = Book.open(torn, "legacy")) {
        assertThat(book.tornBytes()).isEqualTo(length - firstTwo);
        assertThat(book.effects()).extracting(Effect::businessKey).containsExactly("b1");
        write(book, "b3", "d3");
      }
      assertThat(Book.read(torn).effects())
          .extracting(Effect::businessKey)
          .containsExactly("b1", "b3");
      try (Book book = Book.open(torn, "legacy")) {
        assertThat(book.tornBytes()).isZero();
      }
    }
  }

  @Test
  void brokenLineInTheMiddleIsRefused() throws Exception {
    Path file = folder.resolve("book");
    try (Book book = Book.open(file, "legacy")) {
      write(book, "b1", "d1");
      write(book, "b2", "d2");
    }
    String text = Files.readString(file).replace("\"b1\"", "\"bX\"");
    Files.writeString(file, text);

    assertCode(RemoteException.Code.BOOK_CORRUPT, () -> Book.read(file));
    assertCode(RemoteException.Code.BOOK_CORRUPT, () -> Book.open(file, "legacy"));
  }

  @Test
  void bookHasOneWriterAndOneKind() {
    Path file = folder.resolve("book");
    try (Book book = Book.open(file, "legacy")) {
      write(book, "b1", "d1");
      assertCode(RemoteException.Code.BOOK_IN_USE, () -> Book.open(file, "legacy"));
      assertThat(Book.read(file).effects()).hasSize(1);
      assertCode(RemoteException.Code.BOOK_IN_USE, () -> Book.open(file, "legacy"));
    }
    assertCode(RemoteException.Code.BOOK_OF_ANOTHER_KIND, () -> Book.open(file, "ec2"));
  }

  @Test
  void nothingIsWrittenAfterTheClose() {
    Path file = folder.resolve("book");
    Book book = Book.open(file, "legacy");
    book.close();
    assertCode(RemoteException.Code.CLOSED, () -> write(book, "b1", "d1"));
    assertThat(Book.read(file).effects()).isEmpty();
  }

  @Test
  void effectUnderAnotherVersionThanExpectedDoesNotHappen() {
    try (Book book = Book.open(folder.resolve("book"), "gcloud")) {
      write(book, "b1", "d1");
      Book.Draft draft = new Book.Draft("", "b2", null, null, v -> "r", AT, "PUT /x", "/x");
      assertThat(book.append(draft, 0, "", AT, e -> Optional.empty())).isEmpty();
      assertThat(book.append(draft, 1, "", AT, e -> Optional.empty())).isPresent();
      assertThat(book.append(draft, 1, "", AT, e -> Optional.empty())).isEmpty();
      assertThat(book.effects()).hasSize(2);
    }
  }

  private static Map.Entry<String, Integer> entry(String key, int count) {
    return Map.entry(key, count);
  }

  private static void assertCode(RemoteException.Code code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(RemoteException.class, e -> assertThat(e.code()).isEqualTo(code));
  }
}
