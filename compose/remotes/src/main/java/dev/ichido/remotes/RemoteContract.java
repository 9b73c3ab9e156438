package dev.ichido.remotes;

import java.time.Duration;
import java.util.Optional;

/** What a kind of remote promises, and how its answers look. */
abstract class RemoteContract {
  /** How a status read names what it is about. */
  enum By {
    DOWNSTREAM_KEY,
    NATURAL_KEY,
    REFERENCE,
    RESOURCE
  }

  /** Whether the request asks for an effect. */
  boolean writes(Request request) {
    return !request.head().reads();
  }

  abstract Answer write(Request request, Execution execution);

  abstract Answer read(Request request, StatusReads reads);

  /** How long a key is remembered, given how long it is to protect. */
  Duration remembered(Duration window) {
    return window;
  }

  /** The answer in the form that the request asks for. */
  Answer shaped(Request request, Answer answer) {
    return answer;
  }

  /** An error in this kind's shape. */
  abstract Answer error(int status, String code, String message);

  /**
   * What is kept for the key after a commit.
   *
   * @param success what the execution produced
   * @param answered what the remote itself answered, which may be a 500
   */
  abstract Optional<Answer> keptAfterCommit(Answer success, Answer answered);

  /** What is kept for the key after an execution that had no effect. */
  abstract Optional<Answer> keptWithoutCommit(Answer answered);
}
