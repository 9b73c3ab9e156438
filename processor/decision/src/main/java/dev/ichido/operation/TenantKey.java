package dev.ichido.operation;

import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret under which a tenant's operation ids and fingerprints are made, so that short payloads
 * cannot be guessed from them. It is kept as long as the identities made with it: under another key
 * every duplicate looks like another intent.
 */
public final class TenantKey {
  /** Shortest secret, in bytes. */
  public static final int MIN_BYTES = 16;

  private static final String ALGORITHM = "HmacSHA256";

  private final Mac keyed;

  private TenantKey(Mac keyed) {
    this.keyed = keyed;
  }

  /**
   * A tenant's key of its secret bytes, which are copied.
   *
   * @throws IllegalArgumentException for a secret of less than {@value #MIN_BYTES} bytes
   */
  public static TenantKey of(byte[] secret) {
    if (secret.length < MIN_BYTES) {
      throw new IllegalArgumentException(
          "Expected a tenant key of at least %d bytes, but it has %d. Check the key in the configuration."
              .formatted(MIN_BYTES, secret.length));
    }
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      return new TenantKey(mac);
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("Expected HMAC-SHA-256, which every JDK has.", e);
    }
  }

  /** HMAC-SHA-256 under this key, for the one thread that asked. */
  public Mac newMac() {
    try {
      return (Mac) keyed.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("Expected an HMAC that can be cloned.", e);
    }
  }

  @Override
  public String toString() {
    return "TenantKey[secret]";
  }
}
