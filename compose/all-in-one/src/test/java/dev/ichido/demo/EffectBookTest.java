package dev.ichido.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EffectBookTest {
  private static final EffectBook.Operation ONE = new EffectBook.Operation("t", "o-1");
  private static final EffectBook.Operation TWO = new EffectBook.Operation("t", "o-2");

  @TempDir Path temp;

  @Test
  void aSecondEffectIsCountedAndNotHidden() {
    try (EffectBook book = EffectBook.open(temp.resolve("demo/book.jsonl"))) {
      book.append(ONE, "pay");
      book.append(ONE, "pay");
      book.append(TWO, "mail");
      assertThat(book.effectsOf(ONE)).hasSize(2);
      assertThat(book.effectsOf(TWO)).hasSize(1);
      assertThat(book.effectsOf(new EffectBook.Operation("u", "o-1"))).isEmpty();
      assertThat(book.size()).isEqualTo(3);
    }
  }

  @Test
  void whatWasAnsweredOutlivesTheProcessAndATornLineDoesNot() throws IOException {
    Path file = temp.resolve("book.jsonl");
    try (EffectBook book = EffectBook.open(file)) {
      book.append(ONE, "pay");
    }
    Files.writeString(file, "{\"number\":2,\"tena", StandardOpenOption.APPEND);
    try (EffectBook book = EffectBook.open(file)) {
      assertThat(book.effectsOf(ONE)).hasSize(1);
      assertThat(book.append(TWO, "pay").number()).isEqualTo(2);
    }
    assertThat(Files.readAllLines(file)).hasSize(2);
  }
}
