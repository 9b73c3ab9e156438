package dev.ichido.topology.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.operation.OperationKey;
import org.jspecify.annotations.Nullable;

/** Which key a record's content asks for. */
final class RecordKeys {
  private RecordKeys() {}

  /** The key of an operation; without an operation id the key of the delivery. */
  static String of(
      String tenant, String scope, @Nullable String operationId, @Nullable String deliveryId) {
    if (operationId != null) {
      return new OperationKey(tenant, scope, operationId).recordKey();
    }
    String delivery = deliveryId == null ? "" : deliveryId;
    return "d1" + new OperationKey(tenant, scope, delivery).recordKey().substring(2);
  }

  static void requireFit(byte @Nullable [] key, String expected) throws PoisonException {
    if (key == null || !expected.equals(new String(key, UTF_8))) {
      throw new PoisonException(
          Poison.contract(
              "KEY_MISMATCH",
              "Expected the key that tenant, scope and operation id give, but the record has"
                  + (key == null ? " none." : " another.")
                  + " Check how its producer makes keys."));
    }
  }
}
