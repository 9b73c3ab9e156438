package dev.ichido.topology.wire;

import dev.ichido.operation.Intent;
import dev.ichido.operation.Principal;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/** Bytes of the intents topic to a delivery. */
public final class IntentMapper {
  /** Stands in a reply for a principal that was not named; no policy permits it. */
  static final Principal UNNAMED = new Principal("(unnamed)");

  private final Deserializer<ToolIntent> deserializer;

  public IntentMapper(RecordSerdes serdes) {
    this.deserializer = serdes.deserializer(ToolIntent.class);
  }

  /**
   * Reads one record of the topic.
   *
   * @throws PoisonException for a record that cannot be answered
   */
  public Delivery delivery(String topic, byte @Nullable [] key, byte @Nullable [] value)
      throws PoisonException {
    Decoding.requireSize(key, value == null ? 0 : value.length);
    ToolIntent record = Decoding.decode(deserializer, topic, value);
    String recordKey =
        RecordKeys.of(
            record.getTenant(), record.getScope(), record.getOperationId(), record.getDeliveryId());
    RecordKeys.requireFit(key, recordKey);
    if (record.getKind() == IntentKind.UNRECOGNIZED) {
      throw new PoisonException(
          Poison.contract(
              "INTENT_KIND_UNKNOWN",
              "Expected an intent to execute or to cancel, but its kind is unknown to this release."
                  + " Check which release wrote it."));
    }
    if (record.getDeliveryId().isBlank()) {
      throw new PoisonException(
          Poison.contract(
              "DELIVERY_ID_MISSING",
              "Expected a delivery id to answer to, but it is blank. Check the outbox row."));
    }
    boolean named = !record.getPrincipal().isBlank();
    return new Delivery(
        new Intent(
            record.getTenant(),
            record.getScope(),
            record.getOperationId(),
            record.getDeliveryId(),
            named ? new Principal(record.getPrincipal()) : UNNAMED,
            record.getAction(),
            record.getActionVersion(),
            record.getTarget(),
            record.getArguments(),
            record.getPrecondition(),
            record.getDiscriminator(),
            record.getIssuedAt(),
            record.getWorkflowId(),
            record.getStep(),
            record.getCompensates()),
        recordKey,
        record.getKind() == IntentKind.CANCEL,
        named);
  }
}
