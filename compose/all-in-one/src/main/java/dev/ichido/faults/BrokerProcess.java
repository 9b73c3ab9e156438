package dev.ichido.faults;

import dev.ichido.embedded.EmbeddedBroker;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
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
    Map<String, String> settings = new HashMap<>();
    settings.put("advertised.listeners", "PLAINTEXT://127.0.0.1:" + arguments[2]);
    settings.put("group.min.session.timeout.ms", "1000");
    for (String setting : List.of(arguments).subList(3, arguments.length)) {
      int at = setting.indexOf('=');
      settings.put(setting.substring(0, at), setting.substring(at + 1));
    }
    EmbeddedBroker broker =
        EmbeddedBroker.start(Path.of(arguments[0]), Integer.parseInt(arguments[1]), settings);
    Runtime.getRuntime().addShutdownHook(new Thread(broker::close));
    new CountDownLatch(1).await();
  }
}
