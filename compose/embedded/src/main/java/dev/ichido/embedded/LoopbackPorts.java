package dev.ichido.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.concurrent.ThreadLocalRandom;

/** Ports of the loopback interface. */
public final class LoopbackPorts {
  /** The one address that every embedded listener binds to. */
  public static final String HOST = "127.0.0.1";

  private static final InetAddress ADDRESS = loopback();

  private static final int LEAST = 10_000;

  /** Where Linux begins to give ports to outgoing connections; others begin higher. */
  private static final int EPHEMERAL = 32_768;

  private static final int MOST_TRIES = 1_000;

  private LoopbackPorts() {}

  /**
   * A port that was free a moment ago, below those that systems give to outgoing connections: one
   * of these could take it before its listener does, or while that is away.
   */
  public static int free() {
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      int port = ThreadLocalRandom.current().nextInt(LEAST, EPHEMERAL);
      if (isFree(port)) {
        return port;
      }
    }
    throw new IllegalStateException(
        "Expected a free port of %d to %d, but %d that were tried are not. Check what listens there, and the limit of open files."
            .formatted(LEAST, EPHEMERAL - 1, MOST_TRIES));
  }

  /**
   * The port itself when it is free, a free one for 0.
   *
   * @param what who wants it, for the message
   * @throws EmbeddedServerException PORT_IN_USE
   */
  public static int require(String what, int port) {
    if (port == 0) {
      return free();
    }
    if (!isFree(port)) {
      throw EmbeddedServerException.portInUse(what, port);
    }
    return port;
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(ADDRESS, port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static InetAddress loopback() {
    try {
      return InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    } catch (UnknownHostException e) {
      throw new AssertionError("four bytes are an address", e);
    }
  }
}
