package dev.ichido.relay;

import java.util.Map;

/**
 * What the relay connects.
 *
 * @param kafka client properties, passed through ({@code bootstrap.servers}, TLS, SASL, …); what
 *     delivery rests on (acknowledgements, idempotence, the transactional id) is set by the relay
 * @param registry settings of {@link dev.ichido.schemas.wire.RecordSerdes}, passed through
 * @param topicPrefix see {@link dev.ichido.schemas.Topics}
 */
public record RelayConfig(
    OutboxDatabase outbox,
    Map<String, String> kafka,
    Map<String, String> registry,
    String topicPrefix,
    RelayTuning tuning) {
  public RelayConfig {
    kafka = Map.copyOf(kafka);
    registry = Map.copyOf(registry);
  }

  public RelayConfig(
      OutboxDatabase outbox,
      Map<String, String> kafka,
      Map<String, String> registry,
      String topicPrefix) {
    this(outbox, kafka, registry, topicPrefix, RelayTuning.DEFAULT);
  }

  /** Without the passed-through settings, which may carry secrets. */
  @Override
  public String toString() {
    return "RelayConfig[" + outbox + " topics " + topicPrefix + ".* " + tuning + "]";
  }
}
