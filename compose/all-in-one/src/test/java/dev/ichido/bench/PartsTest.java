package dev.ichido.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PartsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          ichido-processor-1a-StreamThread-1; processor
          kafka-producer-network-thread | ichido-processor-1a-StreamThread-1-producer; processor
          kafka-producer-network-thread | producer-ichido-relay-7-ichido_outbox; relay
          debezium-postgresconnector-ichido_outbox-1-change-event-source-coordinator; relay
          ichido-executor-report; executor
          HttpClient-3-SelectorManager; executor
          ForkJoinPool-1-worker-2; executor
          kafka-coordinator-heartbeat-thread | ichido-inbox-journal; inbox
          data-plane-kafka-request-handler-1; broker
          AddPartitionsToTxnSenderThread-1; broker
          group-coordinator-event-processor-0; broker
          ichido-bench-caller-12; caller
          Common-Cleaner; other
          """)
  void aThreadIsPartOfTheRoleThatItWorksFor(String thread, String part) {
    assertThat(Parts.part(thread)).isEqualTo(part);
  }
}
