package dev.ichido.decision;

import org.jspecify.annotations.Nullable;

/** What the journal says of a decision beyond its verdict. */
record Note(
    @Nullable String code,
    boolean alarm,
    @Nullable String by,
    @Nullable String evidence,
    @Nullable String otherReference,
    @Nullable String suspectOf) {
  static final Note NONE = new Note(null, false, null, null, null, null);
  static final Note ALARM = new Note(null, true, null, null, null, null);

  static Note code(@Nullable String code) {
    return code == null ? NONE : new Note(code, false, null, null, null, null);
  }

  static Note alarm(@Nullable String otherReference) {
    return new Note(null, true, null, null, otherReference, null);
  }

  static Note person(@Nullable String code, String by, String evidence) {
    return new Note(code, false, by, evidence.isBlank() ? null : evidence, null, null);
  }

  static Note suspect(String suspectOf) {
    return new Note(ReasonCode.SUSPECTED_REMINT.name(), false, null, null, null, suspectOf);
  }

  Note because(@Nullable ReasonCode reason) {
    return reason == null
        ? this
        : new Note(reason.name(), alarm, by, evidence, otherReference, suspectOf);
  }

  Note by(@Nullable String who) {
    return who == null ? this : new Note(code, alarm, who, evidence, otherReference, suspectOf);
  }
}
