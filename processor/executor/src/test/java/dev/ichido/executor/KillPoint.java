package dev.ichido.executor;

import java.util.Locale;

/** Where an executor is ended by kill -9. */
enum KillPoint {
  /** The insert of the claim waits in the database. */
  BEFORE_THE_CLAIM,
  /** The claim is there, and the request is at a remote that has done nothing yet. */
  AFTER_THE_CLAIM,
  /** The remote has done it and answered, and the update of the claim waits. */
  AFTER_THE_EFFECT,
  /** The result is in the claim, and the broker is down. */
  AFTER_RECORDING;

  String label() {
    return "killed " + name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
