package dev.ichido.operation.fingerprint;

import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/**
 * Every fingerprint version that this build knows. A new operation is taken under the newest; a
 * duplicate is compared under the version stored with its operation, so that an upgrade is never
 * reported as a mismatch.
 */
public final class FingerprintVersions {
  private final TreeMap<Integer, Fingerprinter> byVersion = new TreeMap<>();

  /**
   * A registry of these versions.
   *
   * @throws IllegalArgumentException for none, or for two of one version
   */
  public FingerprintVersions(Collection<? extends Fingerprinter> fingerprinters) {
    for (Fingerprinter fingerprinter : fingerprinters) {
      if (byVersion.put(fingerprinter.version(), fingerprinter) != null) {
        throw new IllegalArgumentException(
            "Expected one fingerprinter a version, but version %d has two. Check the registration."
                .formatted(fingerprinter.version()));
      }
    }
    if (byVersion.isEmpty()) {
      throw new IllegalArgumentException(
          "Expected at least one fingerprinter, but there is none. Check the registration.");
    }
  }

  /** The versions of this release. */
  public static FingerprintVersions released() {
    return new FingerprintVersions(List.of(new FingerprinterV1()));
  }

  /** The newest rules: those for an operation that is not known yet. */
  public Fingerprinter current() {
    return byVersion.lastEntry().getValue();
  }

  /**
   * The rules that a stored operation was taken under.
   *
   * @throws IllegalStateException for a version that this build does not know: it is older than the
   *     store
   */
  public Fingerprinter require(int version) {
    Fingerprinter fingerprinter = byVersion.get(version);
    if (fingerprinter == null) {
      throw new IllegalStateException(
          "Expected a fingerprint version of %s, but the stored operation has %d. Check whether an older build runs on a newer store."
              .formatted(byVersion.keySet(), version));
    }
    return fingerprinter;
  }
}
