package dev.ichido.outbox;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where in a run a tool is called: the identity of an operation whose action declares no key
 * fields. Two calls of one place are one operation.
 *
 * @param runtime which deployment of which runtime
 * @param thread its thread, conversation or run; the same over a restart
 * @param turn the turn, step or message in it that holds the call; the same over a restart
 * @param callId what the model named the call, or null. Give it only when the model's message is
 *     stored before the call and read again on a retry: a model that is asked again names the same
 *     call anew, and the retry would be another operation
 * @param index place of the call among the calls of its turn, from 0
 */
public record Lineage(
    String runtime, String thread, String turn, @Nullable String callId, int index) {
  /**
   * A complete lineage.
   *
   * @throws IdentityException {@code LINEAGE_INCOMPLETE} when runtime, thread or turn is blank or
   *     the index is negative: a call id alone is no identity
   */
  public Lineage {
    List<String> missing = new ArrayList<>();
    if (runtime.isBlank()) {
      missing.add("runtime");
    }
    if (thread.isBlank()) {
      missing.add("thread");
    }
    if (turn.isBlank()) {
      missing.add("turn");
    }
    if (index < 0) {
      missing.add("index");
    }
    if (!missing.isEmpty()) {
      throw IdentityException.lineageIncomplete(missing);
    }
  }

  KeyPart[] parts() {
    return new KeyPart[] {
      KeyPart.text(runtime),
      KeyPart.text(thread),
      KeyPart.text(turn),
      callId == null ? KeyPart.absent() : KeyPart.text(callId),
      KeyPart.number(index)
    };
  }
}
