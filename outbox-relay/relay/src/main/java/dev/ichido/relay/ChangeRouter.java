package dev.ichido.relay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ichido.outbox.RecordKey;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.IntentKind;
import dev.ichido.schemas.ToolIntent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/** Makes an intent of a change, or says why not. Touches nothing. */
final class ChangeRouter {
  static final String TABLE = "ichido.outbox";

  /** A header that is none is left out: a broken trace is no reason to refuse an intent. */
  private static final Pattern TRACEPARENT =
      Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[^\\s]{1,200})?");

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Clock clock;

  ChangeRouter(Clock clock) {
    this.clock = clock;
  }

  RoutedRow route(SourceRecord change) {
    if (!(change.value() instanceof Struct envelope)
        || envelope.schema().field("after") == null
        || !(envelope.get("after") instanceof Struct columns)) {
      return new RoutedRow.Nothing();
    }
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    for (Field field : columns.schema().fields()) {
      row.put(field.name(), columns.get(field));
    }
    Struct source = envelope.getStruct("source");
    Object lsn = source.schema().field("lsn") == null ? null : source.get("lsn");
    Object committed = source.get("ts_ms");
    return route(
        row, lsn instanceof Long position ? position : -1, committed instanceof Long at ? at : 0);
  }

  /**
   * Of a row as the table shows it.
   *
   * @param lsn position in the log; negative when it is not known
   * @param committedAt milliseconds since 1970; 0 when it is not known
   */
  RoutedRow route(Map<String, @Nullable Object> row, long lsn, long committedAt) {
    return new Reader(row, lsn, committedAt).read();
  }

  /** The dead letter of an intent that is too large for its topic. */
  RoutedRow.Refused tooLarge(RoutedRow.Intent intent, int bytes, int limit) {
    return refused(
        intent.row(),
        "RECORD_TOO_LARGE",
        "Expected a record of at most "
            + limit
            + " bytes, but there are "
            + bytes
            + ". Check what the intent carries, or pass a reference.");
  }

  private RoutedRow.Refused refused(RoutedRow.Row row, String code, String detail) {
    return new RoutedRow.Refused(
        row.recordKey(),
        DeadLetter.newBuilder()
            .setRole("relay")
            .setCode(code)
            .setReasonClass("CONTRACT")
            .setDetail(detail)
            .setSourceTopic(TABLE)
            .setSourcePartition(0)
            .setSourceOffset(row.lsn())
            .setSourceTimestamp(Instant.ofEpochMilli(row.committedAt()))
            .setRecordKey(ByteBuffer.wrap(row.recordKey().getBytes(StandardCharsets.UTF_8)))
            .setRecordValue(json(row.columns()))
            .setAt(clock.instant())
            .build(),
        row);
  }

  private final class Reader {
    private final Map<String, @Nullable Object> columns;
    private final long lsn;
    private final long committedAt;
    private final List<String> missing = new ArrayList<>();

    private Reader(Map<String, @Nullable Object> columns, long lsn, long committedAt) {
      this.columns = columns;
      this.lsn = lsn;
      this.committedAt = committedAt;
    }

    RoutedRow read() {
      String delivery = required("id");
      String tenant = required("tenant");
      String scope = required("scope");
      String principal = required("principal");
      String kindName = required("kind");
      String arguments = required("payload");
      if (!(columns.get("issued_at") instanceof Long issuedAt)) {
        missing.add("issued_at");
        return refuseMissing();
      }
      if (!missing.isEmpty()) {
        return refuseMissing();
      }
      IntentKind kind = kind(kindName);
      if (kind == IntentKind.UNRECOGNIZED) {
        return refused(
            row(),
            "KIND_UNKNOWN",
            "Expected kind to be EXECUTE or CANCEL, but it is another word. Check who writes the"
                + " outbox, and that the relay is not older than it.");
      }
      ToolIntent.Builder intent =
          ToolIntent.newBuilder()
              .setKind(kind)
              .setTenant(tenant)
              .setScope(scope)
              .setDeliveryId(delivery)
              .setPrincipal(principal)
              .setArguments(arguments)
              .setIssuedAt(Instant.ofEpochMilli(Math.floorDiv(issuedAt, 1_000L)));
      ifPresent("aggregateid", intent::setOperationId);
      ifPresent("type", intent::setAction);
      ifPresent("action_version", intent::setActionVersion);
      ifPresent("target", intent::setTarget);
      ifPresent("precondition", intent::setPrecondition);
      ifPresent("discriminator", intent::setDiscriminator);
      ifPresent("workflow_id", intent::setWorkflowId);
      ifPresent("step", intent::setStep);
      ifPresent("compensates", intent::setCompensates);
      String traceparent = find("traceparent");
      return new RoutedRow.Intent(
          recordKey(),
          intent.build(),
          traceparent != null && TRACEPARENT.matcher(traceparent).matches() ? traceparent : null,
          row());
    }

    private RoutedRow refuseMissing() {
      return refused(
          row(),
          "COLUMN_MISSING",
          "Expected values in the columns "
              + String.join(", ", missing)
              + ", but there are none. Check who writes the outbox, and its table's definition.");
    }

    private static IntentKind kind(String name) {
      return switch (name) {
        case "EXECUTE" -> IntentKind.EXECUTE;
        case "CANCEL" -> IntentKind.CANCEL;
        default -> IntentKind.UNRECOGNIZED;
      };
    }

    private String required(String column) {
      String value = find(column);
      if (value == null) {
        missing.add(column);
        return "";
      }
      return value;
    }

    private @Nullable String find(String column) {
      return columns.get(column) instanceof String text ? text : null;
    }

    private void ifPresent(String column, Consumer<String> field) {
      String value = find(column);
      if (value != null) {
        field.accept(value);
      }
    }

    private String orEmpty(String column) {
      String value = find(column);
      return value == null ? "" : value;
    }

    private String recordKey() {
      String operation = find("aggregateid");
      return operation == null
          ? RecordKey.ofDelivery(orEmpty("tenant"), orEmpty("scope"), orEmpty("id"))
          : RecordKey.of(orEmpty("tenant"), orEmpty("scope"), operation);
    }

    private RoutedRow.Row row() {
      return new RoutedRow.Row(
          recordKey(),
          orEmpty("id"),
          columns.get("transaction_id") instanceof Long id ? id : 0,
          columns,
          lsn,
          committedAt);
    }
  }

  private static ByteBuffer json(Map<String, @Nullable Object> columns) {
    try {
      return ByteBuffer.wrap(JSON.writeValueAsBytes(columns));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A map of texts and numbers is always JSON.", e);
    }
  }
}
