package dev.ichido.app;

import dev.ichido.config.IchidoConfig;
import dev.ichido.schemas.TopicAdmin;
import dev.ichido.schemas.TopicAdminException;
import dev.ichido.schemas.TopicSpec;
import dev.ichido.schemas.Topics;
import dev.ichido.schemas.wire.RegistryClient;
import dev.ichido.schemas.wire.RegistryUnavailableException;
import dev.ichido.schemas.wire.SchemaRefusedException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/** What a role needs of servers that exist, looked at before it starts to wait for them. */
final class Preflight {
  private final IchidoConfig config;
  private final Duration patience;

  /**
   * For these servers.
   *
   * @param patience how long Kafka may take to answer
   */
  Preflight(IchidoConfig config, Duration patience) {
    this.config = config;
    this.patience = patience;
  }

  /**
   * Looks at what the role reads and writes. The relay looks by itself, and again each time that it
   * starts anew.
   *
   * @throws TopicAdminException KAFKA_UNREACHABLE, KAFKA_ACCESS, TOPIC_MISSING; for the processor
   *     also TOPIC_UNSAFE
   * @throws RegistryUnavailableException when the registry gives no usable answer
   * @throws SchemaRefusedException when a schema is not registered
   */
  void require(LoneRole.Kind role) {
    Topics topics = new Topics(config.topics().prefix());
    switch (role) {
      case RELAY, GATEWAY -> {}
      case PROCESSOR -> require(config.topics().specs(), TopicAdmin::requireSafe);
      case EXECUTOR -> requireThere(topics.commands(), topics.results());
      case INBOX -> requireThere(topics.replies(), topics.journal());
    }
  }

  private void requireThere(String one, String other) {
    Set<String> names = Set.of(one, other);
    require(
        config.topics().specs().stream().filter(spec -> names.contains(spec.name())).toList(),
        TopicAdmin::requireThere);
  }

  private void require(List<TopicSpec> specs, BiConsumer<TopicAdmin, List<TopicSpec>> look) {
    try (TopicAdmin admin = TopicAdmin.connect(config.kafka().values(), patience)) {
      look.accept(admin, specs);
    }
    RegistryClient registry = RegistryClient.from(config.registry().values());
    specs.forEach(spec -> registry.requireId(spec.subject(), spec.schema()));
  }
}
