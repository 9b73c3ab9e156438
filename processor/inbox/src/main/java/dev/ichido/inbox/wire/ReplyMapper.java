package dev.ichido.inbox.wire;

import dev.ichido.inbox.InboxReply;
import dev.ichido.schemas.DeadLetter;
import dev.ichido.schemas.OperationReply;
import dev.ichido.schemas.RefusedRecord;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/** Reads replies, and writes dead letters. */
public final class ReplyMapper {
  /** An index entry of PostgreSQL holds at most a third of a page. */
  private static final int MAX_KEY = 300;

  private ReplyMapper() {}

  /**
   * Makes a reply that the database can keep: without NUL, and with names that an index can hold.
   * An over-long name, which only a refused intent can have, is cut and ends with its digest.
   */
  public static InboxReply toReply(OperationReply record, @Nullable String traceparent) {
    return new InboxReply(
        0,
        name(record.getTenant()),
        name(record.getScope()),
        record.getOperationId() == null ? null : name(record.getOperationId()),
        name(record.getDeliveryId()),
        plain(record.getPrincipal()),
        name(record.getVerdict()),
        findPlain(record.getCode()),
        findPlain(record.getDetail()),
        findPlain(record.getState()),
        record.getAttempt(),
        record.getRevision(),
        record.getFinal$(),
        findPlain(record.getMarker()),
        findPlain(record.getRemoteReference()),
        findPlain(record.getBody()),
        record.getBodyHandle() == null ? null : plain(record.getBodyHandle().getSha256()),
        record.getBodyHandle() == null ? null : record.getBodyHandle().getBytes(),
        record.getResultSchema(),
        record.getOriginalAt(),
        record.getLeaseUntil(),
        record.getRetryAt(),
        record.getDiffering().stream().map(ReplyMapper::plain).toList(),
        record.getDecidedAt(),
        traceparent == null ? null : plain(traceparent),
        false);
  }

  /**
   * Digest of the result that a reply releases, or null. The same body counts as the same whether
   * it travels in the record or under its handle.
   */
  public static @Nullable String findResultHash(OperationReply record) {
    if (record.getMarker() == null) {
      return null;
    }
    String body =
        record.getBodyHandle() != null
            ? record.getBodyHandle().getSha256()
            : record.getBody() == null ? "" : sha256(record.getBody());
    return sha256(
        String.join(
            "\n",
            List.of(
                String.valueOf(record.getRemoteReference() != null),
                sha256(record.getRemoteReference() == null ? "" : record.getRemoteReference()),
                String.valueOf(record.getBody() != null || record.getBodyHandle() != null),
                body,
                String.valueOf(record.getResultSchema()))));
  }

  /** The record as it was, if it is not too large, with its place and the reason. */
  public static DeadLetter toDeadLetter(
      ConsumerRecord<byte[], byte[]> source,
      String code,
      String reasonClass,
      String detail,
      Instant at) {
    RefusedRecord refused = RefusedRecord.of(source.key(), source.value());
    return DeadLetter.newBuilder()
        .setRole("inbox")
        .setCode(code)
        .setReasonClass(reasonClass)
        .setDetail(detail)
        .setSourceTopic(source.topic())
        .setSourcePartition(source.partition())
        .setSourceOffset(source.offset())
        .setSourceTimestamp(Instant.ofEpochMilli(source.timestamp()))
        .setRecordKey(refused.key())
        .setRecordValue(refused.value())
        .setAt(at)
        .build();
  }

  static String name(String text) {
    String plain = plain(text);
    return plain.length() <= MAX_KEY
        ? plain
        : plain.substring(0, MAX_KEY - 72) + "~sha256:" + sha256(text);
  }

  static @Nullable String findPlain(@Nullable String text) {
    return text == null ? null : plain(text);
  }

  static String plain(String text) {
    return text.indexOf('\0') < 0 ? text : text.replace('\0', '\uFFFD');
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256 in every Java runtime.", e);
    }
  }
}
