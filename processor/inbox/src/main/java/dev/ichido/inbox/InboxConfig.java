package dev.ichido.inbox;

import dev.ichido.schemas.Topics;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Settings of an inbox; a member that is null takes its default.
 *
 * @param kafka client properties, passed through
 * @param registry settings of the records' serializers, passed through
 * @param topicPrefix default {@code ichido}
 * @param groupId consumer group, one for each inbox database; default {@code <prefix>-inbox}
 * @param maxBatch replies that are applied in one transaction at most; default 500
 * @param claimedReplies whether every delivery is told that its operation began; default false:
 *     only one whose id begins with {@value InboxConfig#EVERY} is
 * @param migrate whether the tables are brought up to date at start; default true
 */
public record InboxConfig(
    Map<String, String> kafka,
    Map<String, String> registry,
    @Nullable String topicPrefix,
    @Nullable String groupId,
    @Nullable Integer maxBatch,
    @Nullable Boolean claimedReplies,
    @Nullable Boolean migrate) {

  /** How the id of a delivery begins that is to be told everything. */
  public static final String EVERY = "every.";

  public InboxConfig {
    kafka = Map.copyOf(kafka);
    registry = Map.copyOf(registry);
  }

  /** All defaults. */
  public static InboxConfig of(Map<String, String> kafka, Map<String, String> registry) {
    return new InboxConfig(kafka, registry, null, null, null, null, null);
  }

  Topics topics() {
    return topicPrefix == null ? Topics.withDefaultPrefix() : new Topics(topicPrefix);
  }

  String groupIdOrDefault() {
    return groupId == null ? topics().prefix() + "-inbox" : groupId;
  }

  int maxBatchOrDefault() {
    return maxBatch == null || maxBatch < 1 ? 500 : maxBatch;
  }

  boolean claimedRepliesOrDefault() {
    return claimedReplies != null && claimedReplies;
  }

  boolean migrateOrDefault() {
    return migrate == null || migrate;
  }

  /** Names of the passed-through settings only: their values may be passwords. */
  @Override
  public String toString() {
    return "InboxConfig[kafka="
        + new TreeSet<>(kafka.keySet())
        + ", registry="
        + new TreeSet<>(registry.keySet())
        + ", groupId="
        + groupIdOrDefault()
        + "]";
  }
}
