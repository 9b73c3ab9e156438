package dev.ichido.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedBrokerIT {
  @TempDir Path temp;

  @Test
  void aSecondStartOnTheFolderKeepsTheRecords() throws Exception {
    Path folder = temp.resolve("kafka");
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder)) {
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
        admin.createTopics(List.of(new NewTopic("kept", 1, (short) 1))).all().get();
      }
      try (KafkaProducer<String, String> producer =
          new KafkaProducer<>(
              Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", "writer"),
              new StringSerializer(),
              new StringSerializer())) {
        producer.initTransactions();
        producer.beginTransaction();
        producer.send(new ProducerRecord<>("kept", "k", "v")).get();
        producer.commitTransaction();
      }
      assertThat(broker.failure()).isEmpty();
    }
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder);
        KafkaConsumer<String, String> consumer =
            new KafkaConsumer<>(
                Map.of(
                    "bootstrap.servers",
                    broker.bootstrapServers(),
                    "isolation.level",
                    "read_committed"),
                new StringDeserializer(),
                new StringDeserializer())) {
      consumer.assign(List.of(new TopicPartition("kept", 0)));
      consumer.seekToBeginning(List.of(new TopicPartition("kept", 0)));
      assertThat(consumer.poll(Duration.ofSeconds(30)))
          .singleElement()
          .satisfies(record -> assertThat(record.value()).isEqualTo("v"));
    }
  }

  @Test
  void aTakenPortIsRefused() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(
              () -> EmbeddedBroker.start(temp.resolve("kafka"), taken.getLocalPort(), Map.of()))
          .isInstanceOfSatisfying(
              EmbeddedServerException.class,
              e -> assertThat(e.code()).isEqualTo(EmbeddedServerException.Code.PORT_IN_USE));
    }
  }
}
