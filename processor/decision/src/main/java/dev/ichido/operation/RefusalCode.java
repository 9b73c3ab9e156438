package dev.ichido.operation;

/**
 * Why an input is INVALID. The names are wire format: replies, the journal and dead letters carry
 * them.
 */
public enum RefusalCode {
  /** An operation that changes something carries an id; check that the id is set. */
  OPERATION_ID_MISSING(
      "an operation id",
      "Check that the runtime derives the id before its first send and stores it with the intent."),
  /** An id has at least 16 characters; check how it is built. */
  OPERATION_ID_TOO_SHORT(
      "an operation id of at least 16 characters",
      "Check how the id is built; derive it from key fields or lineage."),
  /** An id has at most 255 characters; check how it is built. */
  OPERATION_ID_TOO_LONG(
      "an operation id of at most 255 characters",
      "Check how the id is built; derive it, so that its length does not grow with its parts."),
  /** An id consists of letters, digits and {@code _ . : ~ -}; check quoting and trimming. */
  OPERATION_ID_CHARACTER(
      "an operation id of A-Z a-z 0-9 _ . : ~ -",
      "Check for blanks, quotation marks and lists; nothing is trimmed or stripped."),
  /** An id holds no e-mail address, card or phone number; check that natural keys are derived. */
  OPERATION_ID_LOOKS_PERSONAL(
      "an operation id without personal data",
      "Check that natural keys go through the derivation, never into the id itself."),
  /** An id holds no credential; check that no token or API key is used as an id. */
  OPERATION_ID_LOOKS_SECRET(
      "an operation id without a credential",
      "Check that the id field was not filled with a token, and revoke the token if it was."),
  /** An id cannot be guessed; check that it is no counter and no zero UUID. */
  OPERATION_ID_GUESSABLE(
      "an operation id that cannot be guessed",
      "Check that the id is neither a plain number nor the zero UUID."),
  /** An intent says when its operation was issued; check that a retry keeps that time. */
  ISSUED_AT_MISSING(
      "the time at which the operation was issued",
      "Check that issued_at is set before the first send and kept over every retry."),
  /** An operation is not issued in the future; check the clock of the runtime. */
  CLOCK_SKEW(
      "an issue time no further ahead than the allowed clock skew",
      "Check the clock of the runtime and the unit of issued_at."),
  /** Arguments are one JSON text; check how they are serialised. */
  ARGUMENTS_NOT_JSON(
      "arguments that are one JSON text",
      "Check how the arguments are serialised; NaN, comments and trailing commas are not JSON."),
  /** A member is named once in its object; check how the arguments are merged. */
  ARGUMENTS_DUPLICATE_MEMBER(
      "arguments that name each member of an object once",
      "Check how the arguments are merged; readers disagree on which of two values counts."),
  /** A number has at most 100 digits and an exponent within 308; check for text in its place. */
  ARGUMENTS_NUMBER_RANGE(
      "numbers of at most 100 digits with exponents within -308 and 308",
      "Check whether the value is an identifier, which belongs into a text."),
  /** A text holds whole characters; check where a text is cut. */
  ARGUMENTS_LONE_SURROGATE(
      "texts of whole Unicode characters",
      "Check where a text is cut; half of a surrogate pair has no UTF-8 form."),
  /** Arguments nest at most 200 deep; check for a structure that holds itself. */
  ARGUMENTS_TOO_DEEP(
      "arguments nested at most 200 deep", "Check for a structure that holds itself."),
  /** Arguments have at most 1 MiB as UTF-8; check whether content can go by reference. */
  ARGUMENTS_TOO_LARGE(
      "arguments of at most 1048576 bytes of UTF-8",
      "Check whether content can be stored elsewhere and passed by reference."),
  /** Arguments fit the JSON Schema of the action; check the named members. */
  ARGUMENTS_SCHEMA(
      "arguments that fit the JSON Schema of the action",
      "Check the named members against the schema in the policy and the action version."),
  /** The tenant is one of the policy; check its spelling and the policy that is loaded. */
  TENANT_UNKNOWN(
      "a tenant of the policy", "Check the spelling of the tenant and which policy is loaded."),
  /** The action is one of the policy; check its spelling and the policy that is loaded. */
  ACTION_UNKNOWN(
      "an action of the policy", "Check the spelling of the action and which policy is loaded."),
  /** The scope fits what the action declares; check the region or zone in it and its length. */
  SCOPE_MISMATCH(
      "a scope that fits the declaration of the action, with a name of at most 255 characters",
      "Check whether the action is global, regional or zonal, and the name after the colon; a record key has at most 2000 characters."),
  /** A compensation names another operation by its id; check the field. */
  COMPENSATES_INVALID(
      "the id of another operation in compensates",
      "Check that it is the operation id of the step that is undone, in the same tenant and scope."),
  /** Only what took effect is undone; check how the original ended. */
  NOTHING_TO_UNDO(
      "an original that took effect",
      "Check how the original ended; a step that did not take effect needs no compensation."),
  /** One operation undoes another; check for a compensation that was given a new id. */
  COMPENSATED_ALREADY(
      "an original that no other operation undoes",
      "Check whether the id of the compensation was minted again; send it under its first id."),
  /** A person settles only what is unknown or stuck, as they saw it; look again. */
  NOT_RESOLVABLE(
      "an operation that is UNKNOWN or a stuck FAILED_RETRYABLE, at the attempt that was looked at",
      "Check the state of the operation again; a settled one is not settled again, and another attempt may have begun since."),
  /** A person who settles says who they are and what they saw; check both fields. */
  EVIDENCE_MISSING(
      "the name of the person who settles and their evidence",
      "Check that both fields say something; they are kept in the journal.");

  private final String expected;
  private final String check;

  RefusalCode(String expected, String check) {
    this.expected = expected;
    this.check = check;
  }

  /** What was expected, as a noun phrase without a full stop. */
  public String expected() {
    return expected;
  }

  /** What to check, as a sentence. */
  public String check() {
    return check;
  }

  /**
   * Refuses with the house's sentence.
   *
   * @param was what was found instead: names and positions, never values
   */
  public Refusal because(String was) {
    return new Refusal(this, "Expected " + expected + ", but " + was + ". " + check);
  }
}
