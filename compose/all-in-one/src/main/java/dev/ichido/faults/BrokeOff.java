package dev.ichido.faults;

/** A scenario can't go on, since what it waited for did not come. */
final class BrokeOff extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String finding;

  BrokeOff(String finding) {
    super(finding);
    this.finding = finding;
  }

  String finding() {
    return finding;
  }
}
