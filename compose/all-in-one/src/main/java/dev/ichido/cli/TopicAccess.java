package dev.ichido.cli;

import dev.ichido.schemas.Topics;
import java.util.Map;

/**
 * How to reach the topics.
 *
 * @param kafka client properties
 * @param registry settings of the serde
 */
public record TopicAccess(Map<String, String> kafka, Map<String, String> registry, Topics topics) {
  /** Settings may hold passwords. */
  @Override
  public String toString() {
    return "TopicAccess[" + topics.prefix() + "]";
  }
}
