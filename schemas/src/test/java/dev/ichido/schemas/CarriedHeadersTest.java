package dev.ichido.schemas;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.junit.jupiter.api.Test;

class CarriedHeadersTest {
  @Test
  void onlyTheTraceAndTheRunAreCarriedAndNotOnesOfAnySize() {
    RecordHeaders headers = new RecordHeaders();
    headers.add(CarriedHeaders.TRACE, new byte[1_025]);
    headers.add(CarriedHeaders.REPLAY, new byte[1_024]);
    headers.add("another", new byte[1]);
    assertThat(CarriedHeaders.of(headers))
        .extracting(Header::key)
        .containsExactly(CarriedHeaders.REPLAY);
  }
}
