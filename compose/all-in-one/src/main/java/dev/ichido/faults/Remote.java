package dev.ichido.faults;

import dev.ichido.embedded.LoopbackPorts;
import dev.ichido.remotes.Book;
import dev.ichido.remotes.BookReading;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.Faults;
import dev.ichido.remotes.RemoteControl;
import dev.ichido.remotes.RemoteException;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.remotes.RemoteServer;
import dev.ichido.remotes.StatusMode;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A remote as a process of its own, with a book on disk that outlives it, behind a wire. The
 * executor comes by the wire; the battery's orders do not.
 */
final class Remote implements AutoCloseable {
  private static final Duration UP = Duration.ofSeconds(30);

  private final RemoteKind kind;
  private final Path book;
  private final Jvm jvm;
  private final Wire wire;
  private final RemoteControl control;
  private final Map<String, Integer> callsBeforeKills = new HashMap<>();
  private long lengthRead;
  private BookReading lastRead = new BookReading(List.of());

  Remote(RemoteKind kind, Path folder, Guard guard) {
    int port = LoopbackPorts.free();
    this.kind = kind;
    this.book = folder.resolve(kind.label() + ".book");
    this.wire = new Wire(port);
    this.control = new RemoteControl(URI.create("http://" + LoopbackPorts.HOST + ":" + port));
    this.jvm =
        new Jvm(
            guard,
            "remote-" + kind.label(),
            96,
            folder.resolve("remote-" + kind.label() + ".log"),
            Map.of(),
            RemoteServer.class.getName(),
            List.of(
                "--kind",
                kind.label(),
                "--book",
                book.toString(),
                "--port",
                String.valueOf(port),
                "--business-key",
                "header:X-Business-Key",
                "--natural-key",
                "header:X-Natural-Key"));
  }

  String name() {
    return kind.label();
  }

  Jvm jvm() {
    return jvm;
  }

  Wire wire() {
    return wire;
  }

  void start() {
    jvm.start();
  }

  void awaitUp() throws InterruptedException {
    if (!Patience.until(UP, this::answers)) {
      throw new IllegalStateException(
          "Expected the remote " + name() + " to answer, but it does not. " + jvm.tail());
    }
  }

  /** SIGKILL, then a start on the same book. */
  void killAndStart() throws InterruptedException {
    calls().forEach((key, count) -> callsBeforeKills.merge(key, count, Integer::sum));
    jvm.kill();
    start();
    awaitUp();
  }

  void add(Fault... faults) {
    control.add(faults);
  }

  /** Draws faults for each request. */
  void random(long seed, List<Faults.Rule> rules) {
    control.random(seed, rules);
  }

  void status(StatusMode mode) {
    control.status(mode);
  }

  /** Nothing is wrong any more, what is held goes on. */
  void clear() {
    control.clear();
  }

  void release() {
    control.release();
  }

  int held() {
    return control.held();
  }

  /** How many requests met a fault of that kind since it started. */
  int met(FaultKind fault) {
    return control.met(fault);
  }

  void advanceClock(Duration by) {
    control.advanceClock(by);
  }

  /** Read from the file, so that it is there when the process is not. */
  synchronized BookReading book() {
    long length = book.toFile().length();
    if (length != lengthRead) {
      lastRead = Book.read(book);
      lengthRead = length;
    }
    return lastRead;
  }

  /** Writes that reached it, by business key; those just before a kill may be missing. */
  Map<String, Integer> calls() {
    return control.calls().writesByKey();
  }

  int writes(String businessKey) {
    return callsBeforeKills.getOrDefault(businessKey, 0) + control.calls().writes(businessKey);
  }

  Map<String, Integer> allCalls() {
    Map<String, Integer> all = new HashMap<>(callsBeforeKills);
    calls().forEach((key, count) -> all.merge(key, count, Integer::sum));
    return all;
  }

  @Override
  public void close() {
    control.close();
    jvm.close();
    wire.close();
  }

  private boolean answers() {
    try {
      control.held();
      return true;
    } catch (RemoteException notYet) {
      return false;
    }
  }
}
