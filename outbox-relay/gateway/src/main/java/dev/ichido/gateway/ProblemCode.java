package dev.ichido.gateway;

/** What the door refuses by itself, before anything is decided. The names are stable. */
enum ProblemCode {
  KEY_MISSING(400, "The action needs an Idempotency-Key"),
  KEY_REPEATED(400, "More than one Idempotency-Key"),
  KEY_MALFORMED(400, "The Idempotency-Key can't be read"),
  FIELD_MALFORMED(400, "A header field or parameter can't be used"),
  BODY_NOT_UTF8(400, "The body is not UTF-8"),
  UNAUTHENTICATED(401, "No credential that is accepted"),
  ROUTE_UNKNOWN(404, "There is nothing at this address"),
  ACTION_UNKNOWN(404, "The policy has no such action"),
  OPERATION_UNKNOWN(404, "No such operation of this caller"),
  METHOD_UNKNOWN(405, "The address does not know this method"),
  BODY_TOO_LARGE(413, "The body is too large"),
  MEDIA_TYPE(415, "The body is not JSON"),
  RATE_LIMITED(429, "The tenant asks too often"),
  REQUEST_MALFORMED(400, "The request can't be read"),
  INTERNAL(500, "The door failed"),
  WAITING_FULL(503, "Too many requests wait"),
  OUTBOX_BEHIND(503, "The relay is too far behind"),
  DATABASE_UNAVAILABLE(503, "The database does not answer"),
  CREDENTIALS_UNAVAILABLE(503, "The issuer's keys can't be had"),
  READ_TIMEOUT(504, "The read was not answered in time");

  private final int status;
  private final String title;

  ProblemCode(int status, String title) {
    this.status = status;
    this.title = title;
  }

  int status() {
    return status;
  }

  String title() {
    return title;
  }

  /** The problem with what was expected, what was found and what to check; names, never values. */
  ProblemException because(String detail) {
    return new ProblemException(this, detail, null, null);
  }
}
