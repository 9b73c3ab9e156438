package dev.ichido.schemas;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;

/** Headers that what a record leads to carries on. */
public final class CarriedHeaders {
  /** The W3C trace context. */
  public static final String TRACE = "traceparent";

  /**
   * Id of the run that sent a record again from a topic or a file; no agent does. What it leads to
   * is counted apart from what agents send.
   */
  public static final String REPLAY = "ichido-replay";

  /** No trace context and no run is longer; a header has no limit of its own. */
  private static final int LONGEST = 1_024;

  private CarriedHeaders() {}

  /** Those that are there, and no longer than one may be. */
  public static List<Header> of(Headers headers) {
    List<Header> carried = new ArrayList<>(2);
    for (String name : List.of(TRACE, REPLAY)) {
      Header header = headers.lastHeader(name);
      if (header != null && header.value() != null && header.value().length <= LONGEST) {
        carried.add(header);
      }
    }
    return carried;
  }
}
