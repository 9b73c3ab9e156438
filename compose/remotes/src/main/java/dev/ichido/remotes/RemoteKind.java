package dev.ichido.remotes;

import java.time.Duration;
import java.util.Locale;

/** The contracts that the stand-ins keep. */
public enum RemoteKind {
  /** {@link StripeContract}. */
  STRIPE(Duration.ofHours(24)),
  /** {@link IetfContract}. */
  IETF(Duration.ofHours(24)),
  /** {@link Ec2Contract}. */
  EC2(Duration.ofDays(365)),
  /** {@link GcloudContract}. */
  GCLOUD(Duration.ofMinutes(60)),
  /** {@link AzureContract}. */
  AZURE(Duration.ofMinutes(5)),
  /** {@link LegacyContract}. */
  LEGACY(Duration.ZERO);

  private final Duration window;

  RemoteKind(Duration window) {
    this.window = window;
  }

  /** How long a key protects, counted from its first request, unless configured otherwise. */
  public Duration defaultWindow() {
    return window;
  }

  /** Whether a repeated request with the same key has one effect. */
  public boolean keyed() {
    return this != LEGACY;
  }

  /** The name on command lines and in books. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The inverse of {@link #label()}.
   *
   * @throws RemoteException NOT_UNDERSTOOD
   */
  public static RemoteKind labelled(String label) {
    for (RemoteKind kind : values()) {
      if (kind.label().equals(label)) {
        return kind;
      }
    }
    throw RemoteException.notUnderstood(
        "one of stripe, ietf, ec2, gcloud, azure, legacy as the kind of a remote", label);
  }

  RemoteContract contract(Duration keyWindow) {
    return switch (this) {
      case STRIPE -> new StripeContract();
      case IETF -> new IetfContract();
      case EC2 -> new Ec2Contract();
      case GCLOUD -> new GcloudContract();
      case AZURE -> new AzureContract(keyWindow);
      case LEGACY -> new LegacyContract();
    };
  }
}
