package dev.ichido.relay;

import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import javax.net.SocketFactory;

/**
 * Lets a look for changes last until one comes. The driver looks whether anything has come by a
 * read of one millisecond, and Debezium looks five times before it pauses: an idle relay spent most
 * of its time on reads in vain, and a change that came in the pause waited for its end. The longer
 * read returns as soon as there is something.
 */
public final class PatientSockets extends SocketFactory {
  /** What the driver asks for, and for nothing else. */
  private static final int LOOK_MILLIS = 1;

  private static final int PATIENT_MILLIS = 50;

  @Override
  public Socket createSocket() {
    return new Socket() {
      @Override
      public void setSoTimeout(int millis) throws SocketException {
        super.setSoTimeout(millis == LOOK_MILLIS ? PATIENT_MILLIS : millis);
      }
    };
  }

  @Override
  public Socket createSocket(String host, int port) {
    throw unconnected();
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
    throw unconnected();
  }

  @Override
  public Socket createSocket(InetAddress host, int port) {
    throw unconnected();
  }

  @Override
  public Socket createSocket(
      InetAddress address, int port, InetAddress localAddress, int localPort) {
    throw unconnected();
  }

  private static UnsupportedOperationException unconnected() {
    return new UnsupportedOperationException("The driver connects its sockets itself.");
  }
}
