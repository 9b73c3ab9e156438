package dev.ichido.schemas.wire;

import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import javax.net.ssl.SSLException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Tells failures of serializers that are not ours apart. Their classes are not known here, so it
 * goes by what the JDK and Kafka throw beneath them: anything of the network or of the registry's
 * side is "not now".
 */
final class ForeignFailures {
  private ForeignFailures() {}

  static boolean registryIsMeant(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      if (t instanceof SocketException
          || t instanceof InterruptedIOException
          || t instanceof UnknownHostException
          || t instanceof UnresolvedAddressException
          || t instanceof HttpTimeoutException
          || t instanceof SSLException
          || t instanceof RetriableException
          || t instanceof AuthenticationException
          || t instanceof AuthorizationException
          || t instanceof InvalidConfigurationException) {
        return true;
      }
    }
    return false;
  }
}
