package dev.ichido.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;

/** Ports of the loopback interface. */
public final class LoopbackPorts {
  /** The one address that every embedded listener binds to. */
  public static final String HOST = "127.0.0.1";

  private static final InetAddress ADDRESS = loopback();

  private LoopbackPorts() {}

  /** A port that was free a moment ago. */
  public static int free() {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(ADDRESS, 0));
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(ADDRESS, port));
      return port;
    } catch (IOException e) {
      throw EmbeddedServerException.portInUse(what, port);
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
