package dev.ichido.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RefusedRecordTest {
  private static final int HALF = Topics.RECORD_BYTES / 2;

  @Test
  void aRecordIsKeptWholeUpToTheSizeThatOneMayHave() {
    RefusedRecord whole = RefusedRecord.of(new byte[HALF], new byte[HALF]);
    assertThat(whole.letterKey()).hasSize(HALF);
    assertThat(whole.value()).isNotNull();
    RefusedRecord keyed = RefusedRecord.of(new byte[HALF], new byte[HALF + 1]);
    assertThat(keyed.letterKey()).hasSize(HALF);
    assertThat(keyed.value()).isNull();
    RefusedRecord longKey = RefusedRecord.of(new byte[HALF + 1], new byte[1]);
    assertThat(longKey.letterKey()).isNull();
    assertThat(longKey.key()).isNull();
    assertThat(longKey.value()).isNotNull();
    assertThat(RefusedRecord.of(null, null)).isEqualTo(new RefusedRecord(null, null));
  }
}
