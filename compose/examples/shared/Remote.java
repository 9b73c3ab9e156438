import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What the tools act on. It knows nothing of Ichido and does whatever it is told, as often as it is
 * told. POST /TOOL with an "order" does it; GET / shows the book: order, tool and how often.
 */
class Remote {
  private static final Pattern ORDER = Pattern.compile("\"order\"\\s*:\\s*\"([^\"]+)\"");

  public static void main(String[] args) throws Exception {
    Map<String, Integer> book = new ConcurrentSkipListMap<>();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          try (exchange) {
            Matcher order = ORDER.matcher(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
            String answer =
                book.entrySet().stream()
                    .map(line -> line.getKey() + " " + line.getValue() + "\n")
                    .collect(Collectors.joining());
            if (order.find()) {
              String tool = exchange.getRequestURI().getPath().substring(1);
              int times = book.merge(order.group(1) + " " + tool, 1, Integer::sum);
              answer = "{\"id\":\"" + tool + "-" + times + "\"}";
              exchange.getResponseHeaders().set("Content-Type", "application/json");
            }
            byte[] bytes = answer.getBytes(UTF_8);
            exchange.sendResponseHeaders(200, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
          }
        });
    server.start();
    System.out.println("http://127.0.0.1:" + server.getAddress().getPort());
  }
}
