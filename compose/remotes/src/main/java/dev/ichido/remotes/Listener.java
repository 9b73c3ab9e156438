package dev.ichido.remotes;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Accepts connections on one loopback port, can stop to do so for a while, and goes on later. */
final class Listener implements AutoCloseable {
  /** Serves one request; what it throws ends the connection. */
  interface Handler {
    void handle(Request.Head head, Connection connection) throws IOException;
  }

  private static final byte[] LOOPBACK = {127, 0, 0, 1};
  private static final int BACKLOG = 1024;
  private static final int REBIND_TRIES = 500;
  private static final long REBIND_PAUSE_NANOS = 10_000_000;

  private final Handler handler;
  private final int port;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable ServerSocket socket;
  private @Nullable Thread acceptor;
  private boolean closed;

  Listener(int port, Handler handler) {
    this.handler = handler;
    try {
      ServerSocket bound = bind(port);
      this.port = bound.getLocalPort();
      this.socket = bound;
      this.acceptor = Thread.startVirtualThread(() -> accept(bound));
    } catch (IOException e) {
      threads.close();
      throw RemoteException.portInUse(port, e);
    }
  }

  int port() {
    return port;
  }

  /** Ends the listening socket and all connections but that one, so that nothing is pooled. */
  void refuse(@Nullable Connection except) {
    lock.lock();
    try {
      closeSocket();
    } finally {
      lock.unlock();
    }
    connections.stream().filter(connection -> connection != except).forEach(Connection::close);
  }

  /** Listens again on the same port. */
  void listen() {
    lock.lock();
    try {
      for (int tried = 1; socket == null && !closed; tried++) {
        try {
          ServerSocket bound = bind(port);
          socket = bound;
          acceptor = Thread.startVirtualThread(() -> accept(bound));
        } catch (IOException e) {
          // Somebody's outgoing connection may have taken the port for a moment.
          if (tried == REBIND_TRIES) {
            throw RemoteException.portInUse(port, e);
          }
          LockSupport.parkNanos(REBIND_PAUSE_NANOS);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      closeSocket();
    } finally {
      lock.unlock();
    }
    connections.forEach(Connection::close);
    threads.close();
  }

  private void closeSocket() {
    ServerSocket open = socket;
    socket = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        // It accepts nothing any more either way.
      }
    }
    // A thread in accept keeps the port open until it has noticed the close.
    Thread accepting = acceptor;
    acceptor = null;
    if (accepting != null) {
      try {
        accepting.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void accept(ServerSocket listening) {
    while (!listening.isClosed()) {
      try {
        Socket accepted = listening.accept();
        threads.execute(() -> serve(accepted));
      } catch (IOException e) {
        // Closed, or the other side went away between its connect and our accept.
      }
    }
  }

  private void serve(Socket accepted) {
    try (accepted;
        Connection connection = new Connection(accepted)) {
      connections.add(connection);
      try {
        // A connection that was accepted while the listener was being closed is not served.
        if (!listening()) {
          return;
        }
        Optional<Request.Head> head = connection.readHead();
        while (head.isPresent()) {
          handler.handle(head.get(), connection);
          head = connection.keepAlive() ? connection.readHead() : Optional.empty();
        }
      } finally {
        connections.remove(connection);
      }
    } catch (IOException e) {
      // The other side went away, or sent what is no HTTP.
    }
  }

  private boolean listening() {
    lock.lock();
    try {
      return socket != null;
    } finally {
      lock.unlock();
    }
  }

  private static ServerSocket bind(int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    try {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), port), BACKLOG);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }
}
