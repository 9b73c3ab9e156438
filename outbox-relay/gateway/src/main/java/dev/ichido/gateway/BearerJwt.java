package dev.ichido.gateway;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.KeySourceException;
import com.nimbusds.jose.jwk.source.JWKSourceBuilder;
import com.nimbusds.jose.proc.BadJOSEException;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.proc.DefaultJWTClaimsVerifier;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import java.net.MalformedURLException;
import java.text.ParseException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/**
 * Bearer tokens that an issuer signed with a key of its JWKS document: asymmetric algorithms alone,
 * issuer, audience and expiry checked. The document is kept, and asked for again for a key that is
 * not in it, at most every half minute.
 */
final class BearerJwt {
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.of(
          JWSAlgorithm.RS256,
          JWSAlgorithm.RS384,
          JWSAlgorithm.RS512,
          JWSAlgorithm.PS256,
          JWSAlgorithm.ES256,
          JWSAlgorithm.ES384,
          JWSAlgorithm.ES512,
          JWSAlgorithm.Ed25519,
          JWSAlgorithm.EdDSA);

  private final DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
  private final String tenantClaim;
  private final String principalClaim;

  BearerJwt(GatewayConfig.Jwt config) {
    tenantClaim = config.tenantClaim() == null ? "tenant" : config.tenantClaim();
    principalClaim = config.principalClaim() == null ? "sub" : config.principalClaim();
    try {
      processor.setJWSKeySelector(
          new JWSVerificationKeySelector<>(
              ALGORITHMS,
              JWKSourceBuilder.create(config.jwks().toURL())
                  .retrying(true)
                  .outageTolerant(Duration.ofHours(4).toMillis())
                  .build()));
    } catch (MalformedURLException e) {
      throw GatewayException.of(
          "JWKS_ADDRESS",
          "Expected an http or https address in gateway.jwt.jwks, but it is another. Check it.",
          e);
    }
    processor.setJWSTypeVerifier(
        new DefaultJOSEObjectTypeVerifier<>(
            JOSEObjectType.JWT, new JOSEObjectType("at+jwt"), null));
    processor.setJWTClaimsSetVerifier(
        new DefaultJWTClaimsVerifier<>(
            config.audience(),
            new JWTClaimsSet.Builder().issuer(config.issuer()).build(),
            Set.of("exp", tenantClaim, principalClaim)));
  }

  /**
   * Whom a token names; empty when it is not one that is accepted.
   *
   * @throws ProblemException CREDENTIALS_UNAVAILABLE
   */
  Optional<Caller> find(String token) {
    try {
      JWTClaimsSet claims = processor.process(token, null);
      String tenant = claims.getStringClaim(tenantClaim);
      String principal = claims.getStringClaim(principalClaim);
      return tenant == null || principal == null || tenant.isEmpty() || principal.isEmpty()
          ? Optional.empty()
          : Optional.of(new Caller(tenant, principal));
    } catch (KeySourceException e) {
      throw new ProblemException(
          ProblemCode.CREDENTIALS_UNAVAILABLE,
          "Expected the keys of the issuer, but its JWKS document can't be had. Check"
              + " gateway.jwt.jwks, and send the same request again.",
          Duration.ofSeconds(5),
          e);
    } catch (ParseException | BadJOSEException | JOSEException e) {
      return Optional.empty();
    }
  }
}
