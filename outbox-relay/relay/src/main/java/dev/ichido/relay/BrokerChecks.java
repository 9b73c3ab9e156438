package dev.ichido.relay;

import dev.ichido.relay.RelayException.Code;
import dev.ichido.schemas.Topics;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Whether the broker is there, with the topics that the relay writes to. */
final class BrokerChecks {
  /** Room for headers, and for what a record batch adds to a record. */
  private static final int OVERHEAD = 1_024;

  private BrokerChecks() {}

  /** Most bytes of key and value. */
  record Limits(int intentBytes, int deadLetterBytes) {}

  /**
   * Asks for the topics.
   *
   * @throws RelayException BROKER_UNREACHABLE, BROKER_ACCESS, TOPIC_MISSING
   */
  static Limits requireTopics(Map<String, String> kafka, Topics topics, Duration timeout) {
    int millis = Math.toIntExact(timeout.toMillis());
    Map<String, Object> settings = new HashMap<>(kafka);
    settings.put("default.api.timeout.ms", millis);
    settings.put("request.timeout.ms", millis);
    try (Admin admin = Admin.create(settings)) {
      for (String topic : List.of(topics.intents(), topics.deadLetters())) {
        requireTopic(admin, topic, millis);
      }
      return new Limits(
          findLimit(admin, topics.intents(), Topics.RECORD_BYTES, millis) - OVERHEAD,
          findLimit(admin, topics.deadLetters(), Topics.DEAD_LETTER_BYTES, millis) - OVERHEAD);
    } catch (KafkaException e) {
      throw named(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw named(new TimeoutException(e));
    }
  }

  private static void requireTopic(Admin admin, String topic, int millis)
      throws InterruptedException {
    try {
      admin.describeTopics(List.of(topic)).allTopicNames().get(millis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException missing) {
        throw RelayException.of(
            Code.TOPIC_MISSING,
            "topic " + topic,
            "the broker has none of that name",
            "topics.prefix, and that the topics were created",
            missing);
      }
      throw cause(e);
    } catch (java.util.concurrent.TimeoutException e) {
      throw new TimeoutException(e);
    }
  }

  /** A broker that does not let us look has the limits that we would have set. */
  private static int findLimit(Admin admin, String topic, int otherwise, int millis)
      throws InterruptedException {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try {
      Config config =
          admin
              .describeConfigs(List.of(resource))
              .all()
              .get(millis, TimeUnit.MILLISECONDS)
              .get(resource);
      ConfigEntry entry = config == null ? null : config.get("max.message.bytes");
      return entry == null ? otherwise : Math.min(otherwise, Integer.parseInt(entry.value()));
    } catch (ExecutionException e) {
      if (e.getCause() instanceof AuthorizationException) {
        return otherwise;
      }
      throw cause(e);
    } catch (java.util.concurrent.TimeoutException e) {
      throw new TimeoutException(e);
    }
  }

  private static KafkaException cause(ExecutionException e) {
    return e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
  }

  static RelayException named(KafkaException e) {
    for (Throwable t = e; t != null; t = t.getCause()) {
      if (t instanceof AuthenticationException || t instanceof AuthorizationException) {
        return RelayException.of(
            Code.BROKER_ACCESS,
            "the broker to let the relay in",
            "it refused (" + t.getClass().getSimpleName() + ")",
            "the credentials under kafka, and the rights: write and describe on the topics, write on the"
                + " transactional ids that begin with "
                + RelayIdentity.TRANSACTIONAL_ID_PREFIX,
            e);
      }
    }
    return RelayException.of(
        Code.BROKER_UNREACHABLE,
        "a broker that takes records",
        "it does not answer or fails (" + e.getClass().getSimpleName() + ")",
        "that it runs, and kafka.bootstrap.servers",
        e);
  }
}
