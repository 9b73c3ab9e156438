package dev.ichido.decision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.ActionPolicy.Budget;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.ActionPolicy.Remote;
import dev.ichido.decision.ActionPolicy.Retry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** A policy that cannot hold is refused where it is made, by the name of the member. */
class ActionPolicyTest {
  private static final Duration LESS = Duration.ofMillis(-1);
  private static final Budget BUDGET = new Budget(0, 0, Duration.ZERO);

  @Test
  void durationsAreNotNegative() {
    String[] members = {
      "lease", "retention", "tombstone", "clock_skew", "retry_horizon", "remint_window"
    };
    for (int i = 0; i < members.length; i++) {
      List<Duration> times =
          new ArrayList<>(
              List.of(
                  Duration.ofMillis(1),
                  Duration.ZERO,
                  Duration.ZERO,
                  Duration.ZERO,
                  Duration.ZERO,
                  Duration.ZERO));
      assertThat(policy(times).horizon()).isEqualTo(Duration.ZERO);
      times.set(i, LESS);
      refused(members[i], () -> policy(times));
    }
    List<Duration> none = new ArrayList<>(Collections.nCopies(6, Duration.ZERO));
    refused("lease", () -> policy(none));
  }

  @Test
  void numbersHaveALeastValue() {
    refused("retry.initial", () -> new Retry(true, 1, LESS, Duration.ZERO, BUDGET));
    refused("retry.max", () -> new Retry(true, 1, Duration.ZERO, LESS, BUDGET));
    refused("retry.max_attempts", () -> new Retry(true, 0, Duration.ZERO, Duration.ZERO, BUDGET));
    refused("retry.budget.refill", () -> new Budget(0, 0, LESS));
    refused("retry.budget", () -> new Budget(-1, 0, Duration.ZERO));
    refused("retry.budget", () -> new Budget(0, -1, Duration.ZERO));
    refused("remote.absent_after.reads", () -> new AbsentAfter(0, Duration.ZERO));
    refused("remote.absent_after.over", () -> new AbsentAfter(1, LESS));
    refused(
        "remote.dedupe_window",
        () -> new Remote(16, true, LESS, DedupeAnchor.FIRST_REQUEST, true, null));
    assertThat(new AbsentAfter(1, Duration.ZERO).reads()).isEqualTo(1);
    assertThat(new Retry(true, 1, Duration.ZERO, Duration.ZERO, BUDGET).maxAttempts()).isEqualTo(1);
  }

  private static ActionPolicy policy(List<Duration> times) {
    ActionPolicy p = Policies.STANDARD;
    return new ActionPolicy(
        p.name(),
        p.effect(),
        p.scope(),
        p.volatileMembers(),
        times.get(0),
        times.get(1),
        times.get(2),
        times.get(3),
        times.get(4),
        p.share(),
        Remint.REPORT,
        times.get(5),
        null,
        p.authorize(),
        p.retry(),
        p.remote());
  }

  private static void refused(String member, ThrowingCallable made) {
    assertThatThrownBy(made)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(member + " ");
  }
}
