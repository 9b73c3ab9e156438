package dev.ichido.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A stretch of network between a client and a server on loopback, as a proxy that can be cut or
 * fall silent. Its own port never changes, so that a client finds its server again.
 */
final class Wire implements AutoCloseable {
  private enum State {
    OPEN,
    /** Nothing passes towards the client; requests still reach the server. */
    DEAF,
    /** Nothing passes at all; nobody is told. */
    SILENT,
    /** Connections are reset, new ones too. */
    CUT
  }

  private final ServerSocket listener;
  private final int target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private State state = State.OPEN;
  private long generation;
  private long connections;
  private long frozenUpTo;
  private int held;

  /** Listens on a free port. */
  Wire(int target) {
    this.target = target;
    try {
      listener = new ServerSocket();
      listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 256);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  void open() {
    become(State.OPEN);
  }

  /** Resets every connection and each new one. */
  void cut() {
    become(State.CUT);
    reset();
  }

  /** Resets every connection; new ones pass. */
  void blink() {
    reset();
  }

  /** Swallows nothing and passes nothing, in both directions. */
  void silence() {
    become(State.SILENT);
  }

  /**
   * From {@link #silence()} on: what is held stays held, and new connections pass. The held bytes
   * arrive when {@link #thaw()} is called, as late as that may be.
   */
  void freeze() {
    lock.lock();
    try {
      frozenUpTo = connections;
      state = State.OPEN;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  void thaw() {
    lock.lock();
    try {
      frozenUpTo = 0;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** How many connections have bytes that do not pass. */
  int held() {
    lock.lock();
    try {
      return held;
    } finally {
      lock.unlock();
    }
  }

  /** Requests pass, answers do not. */
  void deafen() {
    become(State.DEAF);
  }

  @Override
  public void close() {
    become(State.CUT);
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    reset();
  }

  private void become(State next) {
    lock.lock();
    try {
      state = next;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void reset() {
    lock.lock();
    try {
      generation++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    sockets.forEach(Wire::reset);
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Thread.ofVirtual().start(() -> join(client));
      } catch (IOException e) {
        // Closed; or a client that was gone before it was accepted.
      }
    }
  }

  private void join(Socket client) {
    long mine;
    long number;
    lock.lock();
    try {
      mine = generation;
      number = ++connections;
      if (state == State.CUT) {
        reset(client);
        return;
      }
    } finally {
      lock.unlock();
    }
    Socket server = new Socket();
    try {
      server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
      server.setTcpNoDelay(true);
      client.setTcpNoDelay(true);
    } catch (IOException e) {
      reset(server);
      reset(client);
      return;
    }
    sockets.add(client);
    sockets.add(server);
    Thread.ofVirtual().start(() -> pump(client, server, mine, number, State.SILENT));
    Thread.ofVirtual().start(() -> pump(server, client, mine, number, State.DEAF));
  }

  /** Moves bytes while the state is below the one that holds this direction up. */
  private void pump(Socket from, Socket to, long mine, long number, State holdsFrom) {
    byte[] buffer = new byte[32 << 10];
    try (from;
        to) {
      int read;
      while ((read = from.getInputStream().read(buffer)) >= 0 && mayPass(mine, number, holdsFrom)) {
        to.getOutputStream().write(buffer, 0, read);
      }
    } catch (IOException e) {
      reset(to);
    } finally {
      sockets.remove(from);
      sockets.remove(to);
    }
  }

  private boolean mayPass(long mine, long number, State holdsFrom) {
    lock.lock();
    try {
      held++;
      while (generation == mine
          && state != State.CUT
          && (number <= frozenUpTo || state.compareTo(holdsFrom) >= 0)) {
        changed.awaitUninterruptibly();
      }
      held--;
      return generation == mine && state != State.CUT;
    } finally {
      lock.unlock();
    }
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      // It is gone, which was the point.
    }
  }
}
