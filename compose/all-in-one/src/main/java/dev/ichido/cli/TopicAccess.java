package dev.ichido.cli;

import dev.ichido.schemas.Topics;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;

/**
 * How to reach the topics.
 *
 * @param kafka client properties
 * @param registry settings of the serde
 */
public record TopicAccess(Map<String, String> kafka, Map<String, String> registry, Topics topics) {
  /**
   * The id of the cluster.
   *
   * @throws CommandException KAFKA_FAILED
   */
  String clusterId() throws InterruptedException {
    try (Admin admin = Admin.create(new HashMap<String, Object>(kafka))) {
      return admin.describeCluster().clusterId().get();
    } catch (ExecutionException e) {
      throw CommandException.failed(
          "KAFKA_FAILED",
          "Expected a broker that tells its cluster's id, but it failed. Check"
              + " kafka.bootstrap.servers.",
          e.getCause());
    }
  }

  /** Settings may hold passwords. */
  @Override
  public String toString() {
    return "TopicAccess[" + topics.prefix() + "]";
  }
}
