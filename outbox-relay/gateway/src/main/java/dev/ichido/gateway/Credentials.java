package dev.ichido.gateway;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/** Who calls: by a bearer token, or by the certificate of the connection where none is sent. */
final class Credentials {
  private static final HeaderName AUTHORIZATION = HeaderNames.AUTHORIZATION;
  private static final String BEARER = "bearer ";

  private final Tokens tokens;
  private final @Nullable BearerJwt jwt;
  private final Map<X500Principal, Caller> certificates;

  Credentials(Tokens tokens, @Nullable BearerJwt jwt, Map<X500Principal, Caller> certificates) {
    this.tokens = tokens;
    this.jwt = jwt;
    this.certificates = Map.copyOf(certificates);
  }

  /**
   * As the configuration says.
   *
   * @throws GatewayException TOKENS_UNREADABLE, JWKS_ADDRESS, CERTIFICATE_SUBJECT
   */
  static Credentials of(GatewayConfig config) {
    Map<X500Principal, Caller> certificates = new HashMap<>();
    for (GatewayConfig.Certificate known : config.certificates()) {
      try {
        certificates.put(
            new X500Principal(known.subject()), new Caller(known.tenant(), known.principal()));
      } catch (IllegalArgumentException e) {
        throw GatewayException.of(
            "CERTIFICATE_SUBJECT",
            "Expected a distinguished name in gateway.certificates, but a subject is none. Check"
                + " it against what openssl x509 -subject -nameopt RFC2253 prints.",
            e);
      }
    }
    return new Credentials(
        config.tokens() == null ? Tokens.none() : Tokens.read(config.tokens()),
        config.jwt() == null ? null : new BearerJwt(config.jwt()),
        certificates);
  }

  /**
   * The caller of a request.
   *
   * @throws ProblemException UNAUTHENTICATED, CREDENTIALS_UNAVAILABLE
   */
  Caller require(ServerRequest request) {
    List<String> sent = request.headers().all(AUTHORIZATION, List::of);
    Optional<Caller> caller = sent.isEmpty() ? byCertificate(request) : byToken(sent);
    return caller.orElseThrow(
        () ->
            ProblemCode.UNAUTHENTICATED.because(
                "Expected a bearer token or a client certificate that is accepted, but there is"
                    + " none. Check the Authorization field, the expiry and the audience."));
  }

  private Optional<Caller> byToken(List<String> sent) {
    String line = sent.getFirst();
    if (sent.size() > 1 || !line.regionMatches(true, 0, BEARER, 0, BEARER.length())) {
      return Optional.empty();
    }
    String token = line.substring(BEARER.length()).strip();
    Optional<Caller> known = tokens.find(token);
    return known.isPresent() || jwt == null ? known : jwt.find(token);
  }

  private Optional<Caller> byCertificate(ServerRequest request) {
    if (certificates.isEmpty()) {
      return Optional.empty();
    }
    Optional<Certificate[]> chain = request.remotePeer().tlsCertificates();
    return chain
        .filter(c -> c.length > 0 && c[0] instanceof X509Certificate)
        .map(c -> certificates.get(((X509Certificate) c[0]).getSubjectX500Principal()));
  }
}
