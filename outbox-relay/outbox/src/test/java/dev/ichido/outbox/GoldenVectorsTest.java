package dev.ichido.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same vectors hold for the processor. The build runs this class on two JDKs, where two are
 * installed.
 */
@Tag("FR-06")
class GoldenVectorsTest {
  static List<List<String>> recordKeys() throws IOException {
    return GoldenFile.rows("record-keys.tsv");
  }

  static List<List<String>> operationIds() throws IOException {
    return GoldenFile.rows("operation-ids.tsv");
  }

  @ParameterizedTest
  @MethodSource("recordKeys")
  void recordKeys(List<String> vector) {
    assertThat(RecordKey.of(vector.get(1), vector.get(2), vector.get(3))).isEqualTo(vector.get(0));
  }

  @ParameterizedTest
  @MethodSource("operationIds")
  void operationIds(List<String> vector) {
    TenantKey key = TenantKey.of(HexFormat.of().parseHex(vector.get(0)));
    KeyPart[] parts =
        vector.subList(3, vector.size()).stream()
            .map(GoldenVectorsTest::part)
            .toArray(KeyPart[]::new);
    assertThat(OperationIds.derive(key, vector.get(1), parts))
        .isEqualTo(vector.get(2))
        .matches("d1-[0-9a-f]{64}");
  }

  private static KeyPart part(String column) {
    if (column.equals("0")) {
      return KeyPart.absent();
    }
    String content = column.substring(2);
    return switch (column.charAt(0)) {
      case 'T' -> KeyPart.text(content);
      case 'N' -> KeyPart.number(new BigDecimal(content));
      case 'B' -> KeyPart.truth(Boolean.parseBoolean(content));
      case 'R' -> {
        String[] repeated = content.split(":", 2);
        yield KeyPart.text(repeated[1].repeat(Integer.parseInt(repeated[0])));
      }
      default -> throw new IllegalStateException(column);
    };
  }
}
