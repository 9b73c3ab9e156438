package dev.ichido.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RecordKeyTest {
  @Test
  void unreservedCharactersStandForThemselves() {
    assertThat(RecordKey.of("t1", "global", "op-0000_0001.~A"))
        .isEqualTo("k1/t1/global/op-0000_0001.~A");
  }

  @Test
  void everythingElseIsItsUtf8InUpperCaseHex() {
    assertThat(RecordKey.of("a/b", "region:eu", "\u00e9%\u4e00\ud83d\ude00 "))
        .isEqualTo("k1/a%2Fb/region%3Aeu/%C3%A9%25%E4%B8%80%F0%9F%98%80%20");
    String text = "z\u00fcrich \u4e00\u5ea6 \ud83d\ude00/%";
    assertThat(URLDecoder.decode(RecordKey.of("t", "s", text), StandardCharsets.UTF_8))
        .isEqualTo("k1/t/s/" + text);
  }

  @Test
  @Tag("FR-08")
  void partsNeverRunIntoEachOther() {
    assertThat(RecordKey.of("a", "b/c", "d")).isNotEqualTo(RecordKey.of("a/b", "c", "d"));
    assertThat(RecordKey.of("a", "", "b")).isNotEqualTo(RecordKey.of("a", "b", ""));
  }

  @Test
  void aDeliveryIsNeverAnOperation() {
    assertThat(RecordKey.ofDelivery("t1", "global", "x")).isEqualTo("d1/t1/global/x");
  }

  @Test
  void loneSurrogatesStayApart() {
    assertThat(RecordKey.of("t", "s", "\ud800")).isEqualTo("k1/t/s/%ED%A0%80");
    assertThat(RecordKey.of("t", "s", "\udc00")).isEqualTo("k1/t/s/%ED%B0%80");
  }
}
