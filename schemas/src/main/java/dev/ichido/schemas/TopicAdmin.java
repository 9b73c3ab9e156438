package dev.ichido.schemas;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * Creates the topics that are missing, and tells where those that exist differ. It changes nothing
 * that exists: a config that somebody set may have a reason, and more partitions would send the
 * records of an operation to another one.
 */
public final class TopicAdmin implements AutoCloseable {
  /** These decide whether an operation is found again and whether its records are still there. */
  private static final Set<String> UNSAFE =
      Set.of("partitions", "message.timestamp.type", "cleanup.policy");

  private final Admin admin;
  private final Duration timeout;

  /**
   * What was done and found.
   *
   * @param created names, in the order of the specs
   * @param differences of topics that existed, in the order of the specs
   */
  public record Report(List<String> created, List<Difference> differences) {
    public Report {
      created = List.copyOf(created);
      differences = List.copyOf(differences);
    }
  }

  /**
   * One setting of one topic that is not as it should be.
   *
   * @param setting {@code partitions}, {@code replication.factor} or a topic config by Kafka's name
   * @param unsafe records may be lost or operations not found again, so a processor should not
   *     start
   */
  public record Difference(
      String topic, String setting, String expected, String found, boolean unsafe) {
    @Override
    public String toString() {
      return "Expected %s of topic \"%s\" to be %s, but it is %s. Check whether that is meant; it is not changed here."
          .formatted(setting, topic, expected, found);
    }
  }

  private TopicAdmin(Admin admin, Duration timeout) {
    this.admin = admin;
    this.timeout = timeout;
  }

  /**
   * Connects when it is first used.
   *
   * @param kafka client properties by Kafka's names, {@code bootstrap.servers} among them
   * @param timeout for all calls of one {@link #ensure}, each
   */
  public static TopicAdmin connect(Map<String, ?> kafka, Duration timeout) {
    Map<String, Object> config = new HashMap<>(kafka);
    config.keySet().removeIf(key -> !AdminClientConfig.configNames().contains(key) && plain(key));
    int millis = Math.toIntExact(timeout.toMillis());
    config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, millis);
    config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
    return new TopicAdmin(Admin.create(config), timeout);
  }

  /**
   * Producer and consumer settings in a shared map are not the admin's; others may be a plug-in's.
   */
  private static boolean plain(String key) {
    return !key.startsWith("sasl.") && !key.startsWith("ssl.");
  }

  /**
   * Creates what is missing; safe to be called by several at once and again.
   *
   * @throws TopicAdminException when Kafka cannot be asked, or refuses
   */
  public Report ensure(List<TopicSpec> specs) {
    Map<String, TopicDescription> topics = describe(specs);
    List<TopicSpec> missing =
        specs.stream().filter(spec -> !topics.containsKey(spec.name())).toList();
    if (missing.isEmpty()) {
      return new Report(List.of(), differences(specs, topics));
    }
    List<String> created = create(missing);
    Map<String, TopicDescription> visible = awaitVisible(specs);
    List<TopicSpec> found = specs.stream().filter(spec -> !created.contains(spec.name())).toList();
    return new Report(created, found.isEmpty() ? List.of() : differences(found, visible));
  }

  /**
   * Looks at topics that must be there; needs no right to create.
   *
   * @throws TopicAdminException TOPIC_MISSING, or when Kafka cannot be asked, or refuses
   */
  public void requireThere(List<TopicSpec> specs) {
    requireThere(specs, describe(specs));
  }

  private static void requireThere(List<TopicSpec> specs, Map<String, TopicDescription> topics) {
    List<String> missing =
        specs.stream().map(TopicSpec::name).filter(name -> !topics.containsKey(name)).toList();
    if (!missing.isEmpty()) {
      throw TopicAdminException.missing(missing);
    }
  }

  /**
   * Looks at topics that must be there and be such that no record is lost and no operation is
   * missed.
   *
   * @throws TopicAdminException TOPIC_MISSING, TOPIC_UNSAFE, or when Kafka cannot be asked, or
   *     refuses
   */
  public void requireSafe(List<TopicSpec> specs) {
    Map<String, TopicDescription> topics = describe(specs);
    requireThere(specs, topics);
    List<Difference> unsafe =
        differences(specs, topics).stream().filter(Difference::unsafe).toList();
    if (!unsafe.isEmpty()) {
      throw TopicAdminException.unsafe(unsafe);
    }
  }

  /**
   * A topic is created before every broker knows it, and Kafka Streams ends where one is missing.
   */
  private Map<String, TopicDescription> awaitVisible(List<TopicSpec> specs) {
    long start = System.nanoTime();
    while (true) {
      Map<String, TopicDescription> topics = describe(specs);
      if (topics.size() == specs.size()) {
        return topics;
      }
      if (System.nanoTime() - start > timeout.toNanos()) {
        throw TopicAdminException.unreachable(
            new TimeoutException("topics that were created are not visible"));
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        throw new InterruptException(e);
      }
    }
  }

  private Map<String, TopicDescription> describe(List<TopicSpec> specs) {
    Map<String, KafkaFuture<TopicDescription>> futures =
        admin.describeTopics(specs.stream().map(TopicSpec::name).toList()).topicNameValues();
    Map<String, TopicDescription> found = new LinkedHashMap<>();
    futures.forEach(
        (name, future) -> {
          try {
            found.put(name, get(future));
          } catch (KafkaException e) {
            if (!(e instanceof UnknownTopicOrPartitionException)) {
              throw failure(e);
            }
          }
        });
    return found;
  }

  private List<String> create(List<TopicSpec> missing) {
    List<NewTopic> topics =
        missing.stream()
            .map(
                spec ->
                    new NewTopic(spec.name(), spec.partitions(), spec.replicationFactor())
                        .configs(spec.configs()))
            .toList();
    List<String> created = new ArrayList<>();
    Map<String, KafkaFuture<Void>> futures = admin.createTopics(topics).values();
    for (TopicSpec spec : missing) {
      try {
        get(futures.get(spec.name()));
        created.add(spec.name());
      } catch (TopicExistsException e) {
        // Another one was faster; whether it did the same is looked at below.
      } catch (AuthorizationException | AuthenticationException | RetriableException e) {
        throw failure(e);
      } catch (KafkaException e) {
        throw TopicAdminException.notCreated(spec.name(), e);
      }
    }
    return created;
  }

  private List<Difference> differences(
      List<TopicSpec> specs, Map<String, TopicDescription> topics) {
    Map<ConfigResource, KafkaFuture<Config>> configs =
        admin.describeConfigs(specs.stream().map(spec -> resource(spec.name())).toList()).values();
    List<Difference> differences = new ArrayList<>();
    for (TopicSpec spec : specs) {
      TopicDescription topic = requireNonNull(topics.get(spec.name()));
      compare(differences, spec, "partitions", spec.partitions(), topic.partitions().size());
      compare(
          differences,
          spec,
          "replication.factor",
          spec.replicationFactor(),
          topic.partitions().get(0).replicas().size());
      Config config;
      try {
        config = get(configs.get(resource(spec.name())));
      } catch (KafkaException e) {
        throw failure(e);
      }
      spec.configs()
          .forEach(
              (key, expected) -> {
                var entry = config.get(key);
                compare(
                    differences, spec, key, expected, entry == null ? "not told" : entry.value());
              });
    }
    return differences;
  }

  private static void compare(
      List<Difference> differences, TopicSpec spec, String setting, Object expected, Object found) {
    if (!expected.toString().equals(String.valueOf(found))) {
      differences.add(
          new Difference(
              spec.name(),
              setting,
              expected.toString(),
              String.valueOf(found),
              UNSAFE.contains(setting)));
    }
  }

  private static ConfigResource resource(String topic) {
    return new ConfigResource(ConfigResource.Type.TOPIC, topic);
  }

  private <T> T get(@Nullable KafkaFuture<T> future) {
    try {
      return requireNonNull(future).get(timeout.toMillis() + 1_000, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (TimeoutException e) {
      throw TopicAdminException.unreachable(e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e);
    }
  }

  private static TopicAdminException failure(KafkaException cause) {
    if (cause instanceof AuthenticationException || cause instanceof AuthorizationException) {
      return TopicAdminException.access(cause);
    }
    if (cause instanceof RetriableException) {
      return TopicAdminException.unreachable(cause);
    }
    return TopicAdminException.failed(cause);
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(5));
  }
}
