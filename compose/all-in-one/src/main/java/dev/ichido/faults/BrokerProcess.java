package dev.ichido.faults;

import dev.ichido.embedded.EmbeddedBroker;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * A broker as a process of its own, until it is killed: {@code FOLDER PORT ADVERTISED_PORT
 * [KEY=VALUE...]}.
 */
final class BrokerProcess {
  private BrokerProcess() {}

  /** Clients are told to come by way of the advertised port. */
  public static void main(String[] arguments) throws InterruptedException {
    EmbeddedBroker broker =
        EmbeddedBroker.start(
            Path.of(arguments[0]),
            Integer.parseInt(arguments[1]),
            Map.of(
                "advertised.listeners",
                "PLAINTEXT://127.0.0.1:" + arguments[2],
                "group.min.session.timeout.ms",
                "1000"));
    Runtime.getRuntime().addShutdownHook(new Thread(broker::close));
    new CountDownLatch(1).await();
  }
}
