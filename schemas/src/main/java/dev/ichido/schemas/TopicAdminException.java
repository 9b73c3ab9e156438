package dev.ichido.schemas;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The topics could not be looked at or created. */
public final class TopicAdminException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  private TopicAdminException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** Stable code of the reason. */
  public String code() {
    return code;
  }

  static TopicAdminException unreachable(Throwable cause) {
    return new TopicAdminException(
        "KAFKA_UNREACHABLE",
        "Expected Kafka to answer, but it did not in time. Check kafka.bootstrap.servers, the security settings and that the brokers run.",
        cause);
  }

  static TopicAdminException access(Throwable cause) {
    return new TopicAdminException(
        "KAFKA_ACCESS",
        "Expected Kafka to let us describe and create topics, but it refused. Check the credentials and the rights of the principal (CREATE, DESCRIBE and DESCRIBE_CONFIGS on the topics).",
        cause);
  }

  static TopicAdminException missing(List<String> topics) {
    return new TopicAdminException(
        "TOPIC_MISSING",
        "Expected topic %s, but there is none. Check topics.prefix, and that ichido migrate ran."
            .formatted(String.join(", ", topics)),
        null);
  }

  static TopicAdminException unsafe(List<TopicAdmin.Difference> differences) {
    return new TopicAdminException(
        "TOPIC_UNSAFE",
        differences.stream().map(Object::toString).collect(Collectors.joining(" "))
            + " Operations could be missed or lost.",
        null);
  }

  static TopicAdminException notCreated(String topic, Throwable cause) {
    return new TopicAdminException(
        "TOPIC_NOT_CREATED",
        "Expected to create topic \"%s\", but Kafka refused: %s. Check topics.partitions, topics.replication_factor and the number of brokers."
            .formatted(topic, cause.getMessage()),
        cause);
  }

  static TopicAdminException failed(Throwable cause) {
    return new TopicAdminException(
        "KAFKA_FAILED",
        "Expected Kafka to describe the topics, but it failed: %s. Check the brokers' logs."
            .formatted(cause.getMessage()),
        cause);
  }
}
