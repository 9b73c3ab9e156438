package dev.ichido.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BearerJwtTest {
  private static final String ISSUER = "https://idp.example";
  private final ECKey key = generate("k1");
  private HttpServer issuer;
  private BearerJwt bearer;

  BearerJwtTest() throws IOException {
    issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 4);
    bearer = bearer("tenant", "sub");
  }

  @BeforeEach
  void publish() {
    issuer.createContext(
        "/jwks",
        exchange -> {
          try (exchange) {
            byte[] keys = new JWKSet(key.toPublicJWK()).toString().getBytes(UTF_8);
            exchange.sendResponseHeaders(200, keys.length);
            exchange.getResponseBody().write(keys);
          }
        });
    issuer.start();
  }

  @AfterEach
  void stop() {
    issuer.stop(0);
  }

  @Test
  void aSignedTokenNamesTenantAndPrincipal() throws JOSEException {
    assertThat(bearer.find(signed(key, c -> c))).contains(new Caller("demo", "agent:demo"));
    assertThat(bearer("org", "azp").find(signed(key, c -> c.claim("org", "o").claim("azp", "a"))))
        .contains(new Caller("o", "a"));
  }

  @Test
  void whatIsNotOfTheIssuerForUsAndNowIsNotAccepted() throws JOSEException {
    Date past = Date.from(Instant.now().minus(Duration.ofHours(1)));
    assertThat(bearer.find(signed(key, c -> c.issuer("https://other.example")))).isEmpty();
    assertThat(bearer.find(signed(key, c -> c.audience("other")))).isEmpty();
    assertThat(bearer.find(signed(key, c -> c.expirationTime(past)))).isEmpty();
    assertThat(bearer.find(signed(key, c -> c.expirationTime(null)))).isEmpty();
    assertThat(bearer.find(signed(key, c -> c.claim("tenant", null)))).isEmpty();
    assertThat(bearer.find(signed(key, c -> c.claim("tenant", 7)))).isEmpty();
    assertThat(bearer.find(signed(generate("k1"), c -> c))).isEmpty();
    assertThat(bearer.find("no token at all")).isEmpty();
  }

  @Test
  void neitherAnUnsignedNorASharedKeyTokenIsAccepted() throws JOSEException {
    assertThat(bearer.find(new PlainJWT(claims(c -> c)).serialize())).isEmpty();
    SignedJWT shared =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("k1").build(), claims(c -> c));
    shared.sign(new MACSigner(key.toPublicJWK().toJSONString().getBytes(UTF_8)));
    assertThat(bearer.find(shared.serialize())).isEmpty();
  }

  @Test
  void anIssuerThatDoesNotAnswerIsNoVerdictOnTheToken() throws JOSEException {
    issuer.stop(0);
    String token = signed(key, c -> c);
    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> bearer.find(token))
        .satisfies(e -> assertThat(e.code()).isEqualTo(ProblemCode.CREDENTIALS_UNAVAILABLE));
  }

  private BearerJwt bearer(String tenantClaim, String principalClaim) {
    URI jwks = URI.create("http://127.0.0.1:" + issuer.getAddress().getPort() + "/jwks");
    return new BearerJwt(
        new GatewayConfig.Jwt(ISSUER, "ichido", jwks, tenantClaim, principalClaim));
  }

  private static ECKey generate(String id) {
    try {
      return new ECKeyGenerator(Curve.P_256).keyID(id).generate();
    } catch (JOSEException e) {
      throw new AssertionError(e);
    }
  }

  private static String signed(ECKey by, UnaryOperator<JWTClaimsSet.Builder> change)
      throws JOSEException {
    SignedJWT token =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.ES256).keyID(by.getKeyID()).build(), claims(change));
    token.sign(new ECDSASigner(by));
    return token.serialize();
  }

  private static JWTClaimsSet claims(UnaryOperator<JWTClaimsSet.Builder> change) {
    return change
        .apply(
            new JWTClaimsSet.Builder()
                .issuer(ISSUER)
                .audience("ichido")
                .subject("agent:demo")
                .claim("tenant", "demo")
                .expirationTime(Date.from(Instant.now().plus(Duration.ofMinutes(5)))))
        .build();
  }
}
