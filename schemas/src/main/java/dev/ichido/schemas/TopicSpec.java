package dev.ichido.schemas;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.specific.SpecificData;
import org.apache.avro.specific.SpecificRecordBase;

/**
 * One topic as it should exist.
 *
 * @param recordType generated class of the values; keys are UTF-8 text
 * @param configs topic configs by Kafka's names, in the order in which they are reported
 */
public record TopicSpec(
    String name,
    Class<? extends SpecificRecordBase> recordType,
    int partitions,
    short replicationFactor,
    Map<String, String> configs) {

  public TopicSpec {
    if (partitions < 1) {
      throw new IllegalArgumentException(
          "Expected at least one partition, but topic \""
              + name
              + "\" has "
              + partitions
              + ". Check topics.partitions.");
    }
    if (replicationFactor < 1) {
      throw new IllegalArgumentException(
          "Expected a replication factor of at least 1, but topic \""
              + name
              + "\" has "
              + replicationFactor
              + ". Check topics.replication_factor.");
    }
    configs = Collections.unmodifiableMap(new LinkedHashMap<>(configs));
  }

  /** The registry's subject of the values, as TopicNameStrategy names it. */
  public String subject() {
    return name + "-value";
  }

  /** Schema of the values, as it is published. */
  public Schema schema() {
    return PublishedSchema.of(SpecificData.get().getSchema(recordType));
  }
}
