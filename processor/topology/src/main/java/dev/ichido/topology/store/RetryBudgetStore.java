package dev.ichido.topology.store;

import dev.ichido.decision.ActionPolicy.Budget;
import dev.ichido.decision.RetryBudget;
import dev.ichido.operation.OperationKey;
import java.time.Instant;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The retry budgets: a token bucket for each tenant and action, on each partition. A budget is
 * therefore spent once a partition; divide it by their number where the sum matters.
 */
public final class RetryBudgetStore {
  private final KeyValueStore<String, byte[]> store;

  public RetryBudgetStore(KeyValueStore<String, byte[]> store) {
    this.store = store;
  }

  /** The budget as it stands. */
  public RetryBudget view(String tenant, String action, Budget budget, Instant at) {
    TokenBucket bucket = bucket(tenant, action, budget, at);
    return bucket.tokens() > 0
        ? RetryBudget.full(at)
        : RetryBudget.empty(
            bucket.nextAt(
                TokenBucket.microsPerToken(budget.refillTokens(), budget.refillPeriod())));
  }

  /** Takes a token. */
  public void charge(String tenant, String action, Budget budget, Instant at) {
    store.put(key(tenant, action), bucket(tenant, action, budget, at).drawn().bytes());
  }

  /** Notes that somebody waits for the token that comes then. */
  public void promise(String tenant, String action, Budget budget, Instant at, Instant comesAt) {
    store.put(key(tenant, action), bucket(tenant, action, budget, at).promised(comesAt).bytes());
  }

  private TokenBucket bucket(String tenant, String action, Budget budget, Instant at) {
    byte[] stored = store.get(key(tenant, action));
    TokenBucket bucket =
        stored == null ? TokenBucket.full(budget.tokens(), at) : TokenBucket.of(stored);
    return bucket.at(
        at,
        budget.tokens(),
        TokenBucket.microsPerToken(budget.refillTokens(), budget.refillPeriod()));
  }

  private static String key(String tenant, String action) {
    return new OperationKey(tenant, action, "").recordKey();
  }
}
