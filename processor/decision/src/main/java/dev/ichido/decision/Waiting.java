package dev.ichido.decision;

import java.util.ArrayList;
import java.util.List;

/** The deliveries that wait for what becomes of an operation, in order of arrival, each once. */
public record Waiting(List<WaitingDelivery> deliveries) {
  /** More are answered, but told to ask again instead of being kept. */
  public static final int MOST = 256;

  /** The same in characters of their ids and principals: what is kept must fit one record. */
  public static final int MOST_CHARACTERS = 256 * 1024;

  /** Nobody waits. */
  public static final Waiting NOBODY = new Waiting(List.of());

  public Waiting {
    deliveries = List.copyOf(deliveries);
    if (deliveries.size() > MOST) {
      throw new IllegalArgumentException(
          "Expected at most %d waiting deliveries, but there were %d. Check where the state was read."
              .formatted(MOST, deliveries.size()));
    }
  }

  static Waiting of(WaitingDelivery delivery) {
    return new Waiting(List.of(delivery));
  }

  /** Whether the delivery waits or would find a place. */
  boolean admits(WaitingDelivery delivery) {
    return deliveries.contains(delivery)
        || (deliveries.size() < MOST
            && deliveries.stream().mapToInt(Waiting::length).sum() + length(delivery)
                <= MOST_CHARACTERS);
  }

  private static int length(WaitingDelivery delivery) {
    return delivery.deliveryId().length() + delivery.principal().name().length();
  }

  /** With the delivery, unless it waits already or there is no place. */
  Waiting with(WaitingDelivery delivery) {
    if (deliveries.contains(delivery) || !admits(delivery)) {
      return this;
    }
    List<WaitingDelivery> more = new ArrayList<>(deliveries.size() + 1);
    more.addAll(deliveries);
    more.add(delivery);
    return new Waiting(more);
  }
}
