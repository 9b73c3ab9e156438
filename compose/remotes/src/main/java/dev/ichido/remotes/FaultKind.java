package dev.ichido.remotes;

import java.util.Locale;

/** What a remote can do wrong with one request. */
public enum FaultKind {
  /** Nothing; takes its place in the queue. */
  CLEAN(true, false),
  /**
   * Commits and never answers; the connection stays until released. FR-17 "accept, then time out".
   */
  ACCEPT_THEN_TIMEOUT(true, false),
  /** Reads the request and neither commits nor answers. */
  TIMEOUT_BEFORE_COMMIT(false, false),
  /** Waits (until released, or for its delay), then commits and answers as if nothing had been. */
  HOLD_BEFORE_COMMIT(true, false),
  /**
   * Commits and answers 5xx. A 500 is the remote's own and is kept for the key where the kind keeps
   * it; 502, 503 and 504 come from a gateway in front of it, which keeps nothing.
   */
  ERROR_AFTER_COMMIT(true, false),
  /**
   * Commits and answers 503 with Retry-After and {@code Stripe-Should-Retry: true}: declares that
   * the request is safe to send again, which it is only where a key protects it.
   */
  RETRY_INVITED(true, false),
  /** Answers 5xx without a commit; 500 and the others as above. */
  ERROR_BEFORE_COMMIT(false, false),
  /** Commits once and sends the whole answer twice on the connection. */
  ANSWER_TWICE(true, false),
  /** Commits at once; the first byte comes after the delay, the key being in flight until then. */
  SLOW(true, false),
  /** Commits, sends the headers at once and then one byte of the body per delay. */
  SLOW_LORIS_BODY(true, false),
  /** Resets the connection after the head of the request, with its body unread. */
  RESET_BEFORE_READ(false, false),
  /** Commits and resets the connection before a byte of the answer. */
  RESET_AFTER_COMMIT(true, false),
  /** Commits, sends half of the answer's body and resets. */
  RESET_MID_BODY(true, false),
  /** Not of a request: closes the listener and all connections, for the delay. */
  REFUSE_CONNECTION(false, false),
  /** 429 with Retry-After, in front of everything else. */
  TOO_MANY_REQUESTS(false, false),
  /** A documented refusal, 4xx, after the execution began; kept where the kind keeps it. */
  REFUSAL(false, false),
  /** 412: the precondition no longer holds. */
  STALE_PRECONDITION(false, false),
  /** Commits; the answer is padded with blanks to the size given. */
  OVERSIZE_BODY(true, false),
  /** A redirect to the same URL with {@code redirected=1}, without a commit. */
  REDIRECT(false, false),
  /** A status read answers 503. */
  STATUS_UNAVAILABLE(false, true),
  /** A status read says that there is nothing, whatever there is. */
  LYING_404(false, true);

  private final boolean commits;
  private final boolean ofReads;

  FaultKind(boolean commits, boolean ofReads) {
    this.commits = commits;
    this.ofReads = ofReads;
  }

  /**
   * Whether the first request that meets the fault has its effect nevertheless, sooner or later.
   */
  public boolean commits() {
    return commits;
  }

  /** Whether it is a fault of status reads by nature. */
  public boolean ofReads() {
    return ofReads;
  }

  /** The name on the control surface: lower case, with underscores. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static FaultKind labelled(String label) {
    for (FaultKind kind : values()) {
      if (kind.label().equals(label)) {
        return kind;
      }
    }
    throw RemoteException.notUnderstood("the name of a fault", label);
  }
}
