package dev.ichido.executor;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** A remote's answer, as bytes. */
public final class ResultBody {
  private final byte[] bytes;

  private ResultBody(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The body that is this text in UTF-8. */
  public static ResultBody text(String text) {
    return new ResultBody(text.getBytes(StandardCharsets.UTF_8));
  }

  /** The body that is a copy of these bytes. */
  public static ResultBody of(byte[] bytes) {
    return new ResultBody(bytes.clone());
  }

  public int length() {
    return bytes.length;
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  /**
   * The body as text, or null when it is not UTF-8 or holds a NUL, which neither PostgreSQL's text
   * nor many a reader can keep.
   */
  public @Nullable String findText() {
    for (byte b : bytes) {
      if (b == 0) {
        return null;
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  /** SHA-256, lower-case hexadecimal. */
  public String sha256() {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256 in every Java runtime.", e);
    }
  }

  /** The length only: a body may hold what must not be logged. */
  @Override
  public String toString() {
    return "ResultBody[" + bytes.length + " bytes]";
  }
}
