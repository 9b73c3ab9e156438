package dev.ichido.topology;

import org.apache.kafka.streams.StreamsConfig;

/** What holds when the processor dies between two commits. */
public enum Guarantee {
  /** State, commands, replies and positions are there together or not at all. */
  EXACTLY_ONCE_V2(StreamsConfig.EXACTLY_ONCE_V2),

  /**
   * What was sent before a crash is there, in any part. The claim row still lets each attempt run
   * once; a lost command waits for its lease, and a lost reply for the runtime to ask again.
   */
  AT_LEAST_ONCE(StreamsConfig.AT_LEAST_ONCE);

  private final String setting;

  Guarantee(String setting) {
    this.setting = setting;
  }

  /** Its name at Kafka Streams. */
  public String setting() {
    return setting;
  }
}
