package dev.ichido.executor.http;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How one action is performed at a remote, as data.
 *
 * @param remote name under which concurrency and the circuit breaker are kept
 * @param url template; values are percent-encoded into it
 * @param hosts {@code host:port} that may be called, whatever the template yields
 * @param plainHttp whether a host that is not loopback may be called without TLS
 * @param trust PEM file of the certificates that are trusted instead of the JVM's; null: the JVM's
 * @param headers templates by name; values may be secrets
 * @param body template of a JSON body; null: the arguments as the runtime wrote them
 * @param sendBody false for methods that have none
 * @param content how the body is written
 * @param rules judged in order, before the status lists
 * @param expected statuses of success
 * @param notAccepted statuses that prove that nothing was done
 * @param terminal statuses that are a refusal for good, without an effect
 * @param reference where the answer names the effect
 * @param resultSchema version of the form of what a success answers; null: none is declared
 * @param responseLimit bytes of an answer that are read at most
 */
public record HttpContract(
    String remote,
    String method,
    Template url,
    Set<String> hosts,
    boolean plainHttp,
    @Nullable Path trust,
    Map<String, Template> headers,
    @Nullable JsonNode body,
    boolean sendBody,
    Content content,
    @Nullable KeyPlace key,
    @Nullable Place precondition,
    Timeouts timeouts,
    List<AnswerRule> rules,
    StatusSet expected,
    StatusSet notAccepted,
    StatusSet terminal,
    @Nullable AnswerPath reference,
    @Nullable String referenceHeader,
    @Nullable Integer resultSchema,
    int responseLimit,
    @Nullable StatusRead status) {

  /** What the value of a header may hold. */
  static final Pattern ASCII = Pattern.compile("[\\t\\x20-\\x7e]*");

  /** How a body is written. */
  public enum Content {
    /** {@code application/json}. */
    JSON,
    /**
     * {@code application/x-www-form-urlencoded}; nested members as {@code a[b]} and {@code a[0]}.
     */
    FORM
  }

  /** Where a value goes in the request; exactly one member is set. */
  public record Place(
      @Nullable String header, @Nullable JsonPointer field, @Nullable String query) {}

  /**
   * Where the downstream key goes, and what the remote takes.
   *
   * @param quoted whether it is sent as a structured-field string, in quotes
   */
  public record KeyPlace(Place place, int limit, Pattern charset, boolean quoted) {}

  /**
   * How long is waited.
   *
   * @param connect until the connection stands
   * @param firstByte until the status line and headers are there
   * @param total until the last byte is there
   */
  public record Timeouts(Duration connect, Duration firstByte, Duration total) {}

  /** What an answer means. */
  public enum Meaning {
    SUCCEEDED,
    NOT_ACCEPTED,
    TERMINAL,
    UNKNOWN,
    COMMITTED,
    ABSENT
  }

  /**
   * One judgement of an answer: it fits when the status fits and, where given, the member at the
   * path (or the header) has one of the values.
   *
   * @param values texts, also of numbers and truth values; empty: the member is neither null, false
   *     nor empty, or the header is there
   * @param reason stable code that the report carries
   */
  public record AnswerRule(
      StatusSet statuses,
      @Nullable AnswerPath path,
      @Nullable String header,
      Set<String> values,
      Meaning means,
      @Nullable String reason) {}

  /**
   * How the remote is asked what happened.
   *
   * @param found member that is there, and neither null, false nor empty, when the effect is
   * @param emptyIsAbsent whether an expected answer without that member says that there is no
   *     effect
   * @param state what became of what was found; null: to be there is to be done
   * @param body member that is kept as the operation's result; null: the whole answer
   */
  public record StatusRead(
      String method,
      Template url,
      Map<String, Template> headers,
      List<AnswerRule> rules,
      StatusSet expected,
      StatusSet absent,
      @Nullable AnswerPath found,
      boolean emptyIsAbsent,
      @Nullable StateMember state,
      @Nullable AnswerPath reference,
      @Nullable AnswerPath body) {
    @Override
    public String toString() {
      return "StatusRead[" + method + "]";
    }
  }

  /**
   * The member that tells how far a remote has come with what it holds. A value of neither list is
   * not the last word: it is asked again.
   *
   * @param committed values that say that the effect took place
   * @param absent values that say that it did not and never will
   */
  public record StateMember(AnswerPath path, Set<String> committed, Set<String> absent) {}

  /** Whether the request carries that value of the command in one of its templates. */
  private boolean fills(String place) {
    return url.has(place)
        || headers.values().stream().anyMatch(header -> header.has(place))
        || (body != null && body.toString().contains("{" + place + "}"));
  }

  /** Whether the remote gets to see the downstream key. */
  boolean sendsKey() {
    return key != null || fills("key");
  }

  /** Whether the remote gets to see the precondition of an intent that has one. */
  boolean sendsPrecondition() {
    return precondition != null || fills("precondition");
  }

  /** Names the remote and the method; headers may hold secrets. */
  @Override
  public String toString() {
    return "HttpContract[" + remote + " " + method + "]";
  }
}
