package dev.ichido.operation.fingerprint;

import dev.ichido.operation.TenantKey;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.TreeMap;

/** Version 1. */
final class FingerprinterV1 implements Fingerprinter {
  @Override
  public int version() {
    return 1;
  }

  @Override
  public FingerprintResult fingerprint(TenantKey key, IntentMeaning meaning) {
    byte[] digest = key.newMac().doFinal(meaning.toString().getBytes(StandardCharsets.UTF_8));
    return new FingerprintResult.Taken(
        new Fingerprint(1, HexFormat.of().formatHex(digest), new TreeMap<>()));
  }
}
