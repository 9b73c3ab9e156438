package dev.ichido.benchmark;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.wire.RecordSerdes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** What an intent of 400 bytes of arguments costs on the wire; the registry is asked once. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SerdeBenchmark {
  private static final String TOPIC = "ichido.intents";

  private final ToolIntent intent =
      ToolIntent.newBuilder()
          .setTenant("tenant-7")
          .setScope("global")
          .setOperationId("op-0000000000000001")
          .setDeliveryId("0190b5a0-7c3e-7f21-9c55-1f2d3c4b5a69")
          .setPrincipal("agent:a")
          .setAction("pay.transfer")
          .setArguments("{\"amount\":100,\"memo\":\"" + "m".repeat(376) + "\"}")
          .setIssuedAt(Instant.parse("2026-01-01T00:00:00Z"))
          .build();
  private HttpServer registry;
  private Serializer<ToolIntent> serializer;
  private Deserializer<ToolIntent> deserializer;
  private byte[] bytes;

  @Setup
  public void start() throws IOException {
    registry = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 8);
    String schema = ToolIntent.getClassSchema().toString().replace("\"", "\\\"");
    registry.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          byte[] answer =
              (exchange.getRequestMethod().equals("GET")
                      ? "{\"schema\":\"" + schema + "\"}"
                      : "{\"id\":1}")
                  .getBytes(UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    registry.start();
    RecordSerdes serdes =
        RecordSerdes.from(
            Map.of(
                "schema.registry.url",
                "http://127.0.0.1:" + registry.getAddress().getPort(),
                "auto.register.schemas",
                "true"));
    serializer = serdes.serializer(ToolIntent.class);
    deserializer = serdes.deserializer(ToolIntent.class);
    bytes = serializer.serialize(TOPIC, intent);
  }

  @TearDown
  public void stop() {
    registry.stop(0);
  }

  @Benchmark
  public byte[] write() {
    return serializer.serialize(TOPIC, intent);
  }

  @Benchmark
  public ToolIntent read() {
    return deserializer.deserialize(TOPIC, bytes);
  }
}
