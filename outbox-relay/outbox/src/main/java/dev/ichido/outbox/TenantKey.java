package dev.ichido.outbox;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret under which a tenant's operation ids are derived, so that an id tells nothing about
 * what it was derived from. Under another key the same operation has another id.
 */
public final class TenantKey {
  /** Shortest secret, in bytes. */
  public static final int MIN_BYTES = 16;

  private static final String ALGORITHM = "HmacSHA256";

  private final SecretKeySpec secret;

  private TenantKey(SecretKeySpec secret) {
    this.secret = secret;
  }

  /**
   * A tenant's key of its secret bytes, which are copied.
   *
   * @throws IdentityException {@code TENANT_KEY_SHORT} for less than {@value #MIN_BYTES} bytes
   */
  public static TenantKey of(byte[] secret) {
    if (secret.length < MIN_BYTES) {
      throw IdentityException.tenantKeyShort(secret.length);
    }
    return new TenantKey(new SecretKeySpec(secret, ALGORITHM));
  }

  byte[] sign(byte[] message) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(secret);
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Expected HMAC-SHA-256, which every JDK has.", e);
    }
  }

  @Override
  public String toString() {
    return "TenantKey[secret]";
  }
}
