package dev.ichido.remotes;

import java.time.Clock;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One write on its way through a remote, with the fault that it meets. */
final class Execution {
  /** The request is never answered. */
  static final class Abandoned extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Abandoned() {
      super(null, null, false, false);
    }
  }

  /** What is to be done, in the words of the contract. */
  record Work(
      String scope,
      @Nullable String key,
      String digest,
      String resource,
      long expectedVersion,
      LongFunction<String> reference,
      Function<Effect, Answer> success,
      Supplier<Answer> stale) {}

  private final RemoteContract contract;
  private final Book book;
  private final KeyMemory memory;
  private final Releases releases;
  private final Clock clock;
  private final String businessKey;
  private final @Nullable String naturalKey;
  private final String operation;
  private final Fault fault;
  private boolean waited;

  Execution(
      RemoteContract contract,
      Book book,
      KeyMemory memory,
      Releases releases,
      Clock clock,
      String businessKey,
      @Nullable String naturalKey,
      String operation,
      Fault fault) {
    this.contract = contract;
    this.book = book;
    this.memory = memory;
    this.releases = releases;
    this.clock = clock;
    this.businessKey = businessKey;
    this.naturalKey = naturalKey;
    this.operation = operation;
    this.fault = fault;
  }

  Instant now() {
    return clock.instant();
  }

  Optional<String> naturalKey() {
    return Optional.ofNullable(naturalKey);
  }

  /** Whether a slow fault already took its time. */
  boolean waited() {
    return waited;
  }

  KeyMemory.Claim claim(String scope, String key, String digest, boolean compareInFlight) {
    return memory.claim(scope, key, digest, now(), compareInFlight);
  }

  /** Claims; waits for the one in flight, if there is one. */
  KeyMemory.Claim claimAfterFlight(String scope, String key, String digest) {
    while (true) {
      KeyMemory.Claim claim = claim(scope, key, digest, false);
      if (!(claim instanceof KeyMemory.Claim.InFlight flight)) {
        return claim;
      }
      flight.done().join();
    }
  }

  /** Does the work of a claimed key, and settles it. */
  Answer first(Work work, KeyMemory.Claim.First claim) {
    Optional<Answer> kept = Optional.empty();
    String key = work.key();
    try {
      Outcome outcome = run(work, claim.at());
      kept = outcome.kept();
      return outcome.answer();
    } finally {
      if (key != null) {
        memory.settle(work.scope(), key, kept);
      }
    }
  }

  /** Does work that no key protects. */
  Answer unprotected(Work work) {
    return run(work, now()).answer();
  }

  private record Outcome(Answer answer, Optional<Answer> kept) {}

  private Outcome run(Work work, Instant keyFrom) {
    switch (fault.kind()) {
      case ERROR_BEFORE_COMMIT -> {
        return without(
            work, keyFrom, contract.error(fault.status(), "internal_error", "Something failed."));
      }
      case REFUSAL -> {
        return without(work, keyFrom, contract.error(fault.status(), "declined", "Declined."));
      }
      case HOLD_BEFORE_COMMIT -> await();
      case CLEAN,
          ACCEPT_THEN_TIMEOUT,
          TIMEOUT_BEFORE_COMMIT,
          ERROR_AFTER_COMMIT,
          RETRY_INVITED,
          ANSWER_TWICE,
          SLOW,
          SLOW_LORIS_BODY,
          RESET_BEFORE_READ,
          RESET_AFTER_COMMIT,
          RESET_MID_BODY,
          REFUSE_CONNECTION,
          TOO_MANY_REQUESTS,
          STALE_PRECONDITION,
          OVERSIZE_BODY,
          REDIRECT,
          STATUS_UNAVAILABLE,
          LYING_404 -> {}
    }
    Book.Draft draft =
        new Book.Draft(
            work.scope(),
            businessKey,
            naturalKey,
            work.key(),
            work.reference(),
            now(),
            operation,
            work.resource());
    // Made once: what is kept must be what is answered, to the byte.
    AtomicReference<Outcome> outcome =
        new AtomicReference<>(new Outcome(work.stale().get(), Optional.empty()));
    Optional<Effect> effect =
        book.append(
            draft,
            work.expectedVersion(),
            work.digest(),
            keyFrom,
            happened -> {
              Answer success = work.success().apply(happened);
              Answer answered = answered(success);
              Optional<Answer> kept = contract.keptAfterCommit(success, answered);
              outcome.set(new Outcome(answered, kept));
              return kept;
            });
    if (effect.isPresent() && fault.kind() == FaultKind.SLOW) {
      await();
    }
    return outcome.get();
  }

  private Outcome without(Work work, Instant keyFrom, Answer answer) {
    Optional<Answer> kept = contract.keptWithoutCommit(answer);
    String key = work.key();
    if (key != null && kept.isPresent()) {
      book.keep(new Book.Kept(work.scope(), key, work.digest(), keyFrom, kept.get()));
    }
    return new Outcome(answer, kept);
  }

  private Answer answered(Answer success) {
    return fault.kind() == FaultKind.ERROR_AFTER_COMMIT && !fault.ofGateway()
        ? contract.error(fault.status(), "internal_error", "Something failed.")
        : success;
  }

  private void await() {
    waited = true;
    if (releases.await(fault.delay()) == Releases.Signal.CLOSED) {
      throw new Abandoned();
    }
  }
}
