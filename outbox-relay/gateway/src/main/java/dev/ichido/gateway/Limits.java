package dev.ichido.gateway;

import io.github.resilience4j.ratelimiter.RateLimiter;
import io.github.resilience4j.ratelimiter.RateLimiterConfig;
import io.github.resilience4j.ratelimiter.RateLimiterRegistry;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/** How much is asked at a time: by each tenant in a second, and by all who wait. */
final class Limits {
  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final RateLimiterRegistry rates;
  private final Semaphore places;
  private final int most;

  Limits(int ratePerTenant, int maxWaiting) {
    rates =
        RateLimiterRegistry.of(
            RateLimiterConfig.custom()
                .limitForPeriod(ratePerTenant)
                .limitRefreshPeriod(PERIOD)
                .timeoutDuration(Duration.ZERO)
                .build());
    places = new Semaphore(maxWaiting);
    most = maxWaiting;
  }

  /**
   * Counts a request.
   *
   * @throws ProblemException RATE_LIMITED
   */
  void count(Caller caller) {
    RateLimiter rate = rates.rateLimiter(caller.tenant());
    if (!rate.acquirePermission()) {
      throw ProblemCode.RATE_LIMITED
          .because(
              "Expected fewer requests of this tenant, but its rate is used up. Wait, and send the"
                  + " same request again.")
          .after(PERIOD);
    }
  }

  /**
   * Takes a place among those who wait; who took one gives it back.
   *
   * @throws ProblemException WAITING_FULL
   */
  void takePlace() {
    if (!places.tryAcquire()) {
      throw ProblemCode.WAITING_FULL
          .because(
              "Expected a free place among the requests that wait, but all are taken and nothing"
                  + " was written. Send the same request again, or with Prefer: respond-async.")
          .after(Duration.ofSeconds(1));
    }
  }

  void givePlaceBack() {
    places.release();
  }

  int taken() {
    return most - places.availablePermits();
  }
}
