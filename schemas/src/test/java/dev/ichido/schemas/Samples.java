package dev.ichido.schemas;

import java.time.Instant;
import java.util.List;

/** Whole records of every kind. */
public final class Samples {
  public static final Instant AT = Instant.parse("2026-01-01T00:00:00.123Z");

  private Samples() {}

  public static ToolIntent intent() {
    return ToolIntent.newBuilder()
        .setTenant("t1")
        .setOperationId("op-0000000000000001")
        .setDeliveryId("4d0e2bfb-3f2b-4c51-8f2e-9c4c3d7a1c11")
        .setPrincipal("agent:a")
        .setAction("pay.transfer")
        .setArguments("{\"amount\":100,\"note\":\"一度 €\"}")
        .setIssuedAt(AT)
        .build();
  }

  public static OperationReply reply() {
    return OperationReply.newBuilder()
        .setTenant("t1")
        .setScope("global")
        .setDeliveryId("4d0e2bfb-3f2b-4c51-8f2e-9c4c3d7a1c11")
        .setPrincipal("agent:a")
        .setVerdict("FINGERPRINT_MISMATCH")
        .setDiffering(List.of("amount", "note"))
        .setDecidedAt(AT)
        .build();
  }
}
