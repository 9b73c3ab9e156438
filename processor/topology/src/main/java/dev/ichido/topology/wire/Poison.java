package dev.ichido.topology.wire;

/**
 * Why a record goes to the dead letters instead of being decided on.
 *
 * @param code a stable word
 * @param reason what kind of thing is wrong
 * @param detail the sentence for a person; names, never values
 */
public record Poison(String code, Reason reason, String detail) {
  /** What kind of thing is wrong. The names are wire format. */
  public enum Reason {
    /** The bytes are no record of the expected schema. */
    DECODING,
    /** The record is well formed and breaks a rule. */
    CONTRACT,
    /** Who wrote it may not. */
    AUTHORIZATION
  }

  static Poison contract(String code, String detail) {
    return new Poison(code, Reason.CONTRACT, detail);
  }

  static Poison decoding(String code, String detail) {
    return new Poison(code, Reason.DECODING, detail);
  }
}
