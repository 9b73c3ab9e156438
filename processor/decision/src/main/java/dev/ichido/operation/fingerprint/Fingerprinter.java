package dev.ichido.operation.fingerprint;

import dev.ichido.operation.TenantKey;

/** The rules of one fingerprint version. An implementation is pure and may be shared by threads. */
public interface Fingerprinter {
  /** Number of these rules, from 1. It is stored with each operation. */
  int version();

  /** The fingerprint of an intent under these rules and a tenant's key. */
  FingerprintResult fingerprint(TenantKey key, IntentMeaning meaning);
}
