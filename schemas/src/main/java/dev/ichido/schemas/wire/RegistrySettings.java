package dev.ichido.schemas.wire;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;

/**
 * How the registry is reached: the keys of Confluent's own serializers, so that one map fits both.
 */
final class RegistrySettings extends AbstractConfig {
  static final String URL = "schema.registry.url";
  static final String AUTO_REGISTER = "auto.register.schemas";
  static final String RECORD_TYPE = "specific.avro.value.type";
  static final String SUBJECT_STRATEGY = "value.subject.name.strategy";

  private static final String CREDENTIALS_SOURCE = "basic.auth.credentials.source";
  private static final String USER_INFO = "basic.auth.user.info";
  private static final String LEGACY_USER_INFO = "schema.registry.basic.auth.user.info";
  private static final String BEARER_TOKEN = "bearer.auth.token";
  private static final String CONNECT_TIMEOUT = "http.connect.timeout.ms";
  private static final String READ_TIMEOUT = "http.read.timeout.ms";
  private static final String MAX_RETRIES = "max.retries";
  private static final String RETRY_WAIT = "retries.wait.ms";
  private static final String RETRY_WAIT_MAX = "retries.max.wait.ms";
  private static final String SSL_PREFIX = "schema.registry.";

  private static final ConfigDef KEYS =
      new ConfigDef()
          .define(
              URL,
              ConfigDef.Type.LIST,
              ConfigDef.NO_DEFAULT_VALUE,
              Importance.HIGH,
              "Root of the registry's REST interface; several, separated by commas, are tried in turn.")
          .define(
              AUTO_REGISTER,
              ConfigDef.Type.BOOLEAN,
              true,
              Importance.MEDIUM,
              "Whether a writer registers its schema, or expects it to be registered.")
          .define(
              SUBJECT_STRATEGY,
              ConfigDef.Type.STRING,
              "TopicNameStrategy",
              Importance.LOW,
              "Only TopicNameStrategy: the subject is the topic's name and \"-value\".")
          .define(
              CREDENTIALS_SOURCE,
              ConfigDef.Type.STRING,
              "URL",
              Importance.MEDIUM,
              "USER_INFO, or URL: then the registry's URL may carry user and password.")
          .define(USER_INFO, ConfigDef.Type.PASSWORD, "", Importance.MEDIUM, "user:password")
          .define(LEGACY_USER_INFO, ConfigDef.Type.PASSWORD, "", Importance.LOW, "user:password")
          .define(
              BEARER_TOKEN,
              ConfigDef.Type.PASSWORD,
              "",
              Importance.MEDIUM,
              "A static bearer token.")
          .define(
              CONNECT_TIMEOUT,
              ConfigDef.Type.INT,
              5_000,
              Range.atLeast(1),
              Importance.LOW,
              "Milliseconds.")
          .define(
              READ_TIMEOUT,
              ConfigDef.Type.INT,
              10_000,
              Range.atLeast(1),
              Importance.LOW,
              "Milliseconds.")
          .define(
              MAX_RETRIES,
              ConfigDef.Type.INT,
              3,
              Range.atLeast(0),
              Importance.LOW,
              "Further tries of a call that got no usable answer.")
          .define(
              RETRY_WAIT,
              ConfigDef.Type.INT,
              100,
              Range.atLeast(0),
              Importance.LOW,
              "Milliseconds.")
          .define(
              RETRY_WAIT_MAX,
              ConfigDef.Type.INT,
              2_000,
              Range.atLeast(0),
              Importance.LOW,
              "Milliseconds.");

  RegistrySettings(Map<String, ?> config) {
    super(KEYS, config, false);
    if (getList(URL).isEmpty()) {
      throw new ConfigException(
          "Expected the registry's URL, but schema.registry.url is empty. Check schema.registry.url.");
    }
    urls();
    String strategy = getString(SUBJECT_STRATEGY);
    if (!strategy.endsWith("TopicNameStrategy") || strategy.endsWith("RecordTopicNameStrategy")) {
      throw new ConfigException(
          "Expected TopicNameStrategy, but value.subject.name.strategy is another class. Check value.subject.name.strategy, or set registry.serializer.class to a serializer that supports it.");
    }
  }

  List<URI> urls() {
    return getList(URL).stream().map(RegistrySettings::root).toList();
  }

  private static URI root(String text) {
    URI uri;
    try {
      uri = URI.create(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
    } catch (IllegalArgumentException e) {
      throw notAUrl();
    }
    String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
    if ((!scheme.equals("http") && !scheme.equals("https")) || uri.getHost() == null) {
      throw notAUrl();
    }
    return uri;
  }

  private static ConfigException notAUrl() {
    // The text may carry a password, so it is not repeated.
    return new ConfigException(
        "Expected http://host:port or https://host:port, but schema.registry.url is neither. Check schema.registry.url.");
  }

  boolean autoRegister() {
    return getBoolean(AUTO_REGISTER);
  }

  Duration connectTimeout() {
    return Duration.ofMillis(getInt(CONNECT_TIMEOUT));
  }

  Duration readTimeout() {
    return Duration.ofMillis(getInt(READ_TIMEOUT));
  }

  int maxRetries() {
    return getInt(MAX_RETRIES);
  }

  /** The wait before the given further try, from 1. */
  Duration retryWait(int retry) {
    long wait = (long) getInt(RETRY_WAIT) << Math.min(retry - 1, 20);
    return Duration.ofMillis(Math.min(wait, getInt(RETRY_WAIT_MAX)));
  }

  /** Value of the Authorization header for calls to the given registry. */
  Optional<String> authorization(URI url) {
    String token = password(BEARER_TOKEN);
    if (!token.isEmpty()) {
      return Optional.of("Bearer " + token);
    }
    String userInfo =
        switch (getString(CREDENTIALS_SOURCE)) {
          case "USER_INFO" ->
              password(USER_INFO).isEmpty() ? password(LEGACY_USER_INFO) : password(USER_INFO);
          case "URL" -> url.getUserInfo() == null ? "" : url.getUserInfo();
          default ->
              throw new ConfigException(
                  "Expected USER_INFO or URL, but basic.auth.credentials.source is neither. Check basic.auth.credentials.source.");
        };
    return userInfo.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "Basic "
                + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.UTF_8)));
  }

  /** TLS as set by {@code schema.registry.ssl.*}, in Kafka's own words; empty: the JVM's own. */
  Optional<SSLContext> tls() {
    Map<String, Object> given = originalsWithPrefix(SSL_PREFIX + "ssl.");
    if (given.isEmpty()) {
      return Optional.empty();
    }
    ConfigDef keys = new ConfigDef();
    SslConfigs.addClientSslSupport(keys);
    Map<String, Object> named = new HashMap<>();
    given.forEach((key, value) -> named.put("ssl." + key, value));
    Map<String, Object> parsed = new HashMap<>(keys.parse(named));
    try (DefaultSslEngineFactory factory = new DefaultSslEngineFactory()) {
      factory.configure(parsed);
      return Optional.of(factory.sslContext());
    }
  }

  private String password(String key) {
    Password password = getPassword(key);
    return password == null ? "" : password.value();
  }
}
