package dev.ichido.decision;

import dev.ichido.operation.Principal;
import java.util.Objects;

/** A delivery that was answered, but not finally. */
public record WaitingDelivery(String deliveryId, Principal principal) {
  public WaitingDelivery {
    Objects.requireNonNull(deliveryId, "deliveryId");
    Objects.requireNonNull(principal, "principal");
  }
}
