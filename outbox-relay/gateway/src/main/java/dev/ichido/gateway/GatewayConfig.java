package dev.ichido.gateway;

import dev.ichido.outbox.OutboxIntent;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the HTTP door; a member that is null is not used.
 *
 * @param port 0 for a free one
 * @param plainHttp whether another address than loopback may be served without TLS, because
 *     something in front ends it
 * @param tokens file of development tokens; see {@link Tokens}
 * @param maxBodyBytes longest body of a request
 * @param ratePerTenant requests a second that a tenant may make
 * @param maxWaiting requests that wait and streams that are open at a time; one more is answered
 *     503
 * @param maxWait longest wait that a request may ask for
 * @param decisionWait how long a request that asks for no wait is held until the first reply
 */
public record GatewayConfig(
    String host,
    int port,
    boolean plainHttp,
    @Nullable Tls tls,
    @Nullable Path tokens,
    @Nullable Jwt jwt,
    List<Certificate> certificates,
    int maxBodyBytes,
    int ratePerTenant,
    int maxWaiting,
    Duration maxWait,
    Duration decisionWait) {

  /** On a free port of the loopback interface, without a credential that would be accepted. */
  public static final GatewayConfig DEFAULT =
      new GatewayConfig(
          "127.0.0.1",
          0,
          false,
          null,
          null,
          null,
          List.of(),
          OutboxIntent.MAX_ARGUMENTS_BYTES,
          1_000,
          10_000,
          Duration.ofMinutes(2),
          Duration.ofSeconds(5));

  public GatewayConfig {
    certificates = certificates == null ? List.of() : List.copyOf(certificates);
    if (maxBodyBytes < 1 || ratePerTenant < 1 || maxWaiting < 1) {
      throw new IllegalArgumentException(
          "Expected max_body_bytes, rate_per_tenant and max_waiting of at least 1, but one is less."
              + " Check the gateway's settings.");
    }
  }

  /** With development tokens of another file. */
  public GatewayConfig withTokens(Path file) {
    return new GatewayConfig(
        host,
        port,
        plainHttp,
        tls,
        file,
        jwt,
        certificates,
        maxBodyBytes,
        ratePerTenant,
        maxWaiting,
        maxWait,
        decisionWait);
  }

  /** On another address. */
  public GatewayConfig at(String otherHost, int otherPort) {
    return new GatewayConfig(
        otherHost,
        otherPort,
        plainHttp,
        tls,
        tokens,
        jwt,
        certificates,
        maxBodyBytes,
        ratePerTenant,
        maxWaiting,
        maxWait,
        decisionWait);
  }

  /**
   * Files in PEM form.
   *
   * @param clientCa who signs the certificates of clients; null where none are asked for
   */
  public record Tls(Path certificate, Path key, @Nullable Path clientCa) {}

  /**
   * Bearer tokens of an issuer.
   *
   * @param issuer the claim {@code iss}
   * @param audience one of the claim {@code aud}
   * @param jwks where the issuer publishes its keys
   * @param tenantClaim name of the claim that names the tenant; null is {@code tenant}
   * @param principalClaim name of the claim that names the principal; null is {@code sub}
   */
  public record Jwt(
      String issuer,
      String audience,
      URI jwks,
      @Nullable String tenantClaim,
      @Nullable String principalClaim) {}

  /**
   * A client that shows a certificate.
   *
   * @param subject its distinguished name, as RFC 2253 writes it
   */
  public record Certificate(String subject, String tenant, String principal) {}
}
