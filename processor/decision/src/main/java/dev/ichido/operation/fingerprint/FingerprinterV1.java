package dev.ichido.operation.fingerprint;

import dev.ichido.operation.TenantKey;
import dev.ichido.operation.TypedParts;
import dev.ichido.operation.TypedParts.Tag;
import dev.ichido.operation.fingerprint.JsonValue.JsonObject;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.crypto.Mac;
import org.jspecify.annotations.Nullable;

/**
 * Version 1: HMAC-SHA-256 under the tenant's key over {@link TypedParts}: the name of this rule,
 * action, action version, target, precondition, and the canonical form v1 of the arguments without
 * their volatile members.
 */
final class FingerprinterV1 implements Fingerprinter {
  private static final String RULE = "ichido/fingerprint/1";
  private static final String MEMBER_RULE = "ichido/fingerprint/1/member";

  /** Beyond so many arguments, or with a longer name, arguments are digested as one member. */
  private static final int MAX_NAMED_ARGUMENTS = 64;

  private static final int MAX_NAME_LENGTH = 128;

  /** Member digests only point a person to a field, so 64 bits of them are stored. */
  private static final int MEMBER_DIGEST_BYTES = 8;

  @Override
  public int version() {
    return 1;
  }

  @Override
  public FingerprintResult fingerprint(TenantKey key, IntentMeaning meaning) {
    return switch (CanonicalForm.read(meaning.arguments())) {
      case CanonicalForm.Reading.Refused refused ->
          new FingerprintResult.Refused(refused.refusal());
      case CanonicalForm.Reading.Read read ->
          new FingerprintResult.Taken(
              fingerprint(key, meaning, read.form().without(meaning.volatileMembers()).value()),
              read.form());
    };
  }

  private static Fingerprint fingerprint(
      TenantKey key, IntentMeaning meaning, JsonValue arguments) {
    Mac mac = key.newMac();
    TypedParts parts = new TypedParts();
    parts.text(RULE).text(meaning.action());
    textOrAbsent(parts, meaning.actionVersion());
    textOrAbsent(parts, meaning.target());
    textOrAbsent(parts, meaning.precondition());
    json(parts, arguments);
    parts.update(mac);
    String digest = HexFormat.of().formatHex(mac.doFinal());

    MemberDigests members = new MemberDigests(mac, parts);
    members.text("action", meaning.action());
    members.text("action_version", meaning.actionVersion());
    members.text("target", meaning.target());
    members.text("precondition", meaning.precondition());
    members.arguments(arguments);
    return new Fingerprint(1, digest, members.byName(), new TreeSet<>(meaning.volatileMembers()));
  }

  private static void textOrAbsent(TypedParts parts, @Nullable String text) {
    if (text == null) {
      parts.absent();
    } else {
      parts.text(text);
    }
  }

  private static void json(TypedParts parts, JsonValue value) {
    parts.open(Tag.JSON);
    CanonicalForm.write(value, parts);
    parts.close();
  }

  private static byte[] memberKey(Mac mac, TypedParts parts) {
    parts.clear();
    parts.text(MEMBER_RULE);
    parts.update(mac);
    return mac.doFinal();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256, which every JDK has.", e);
    }
  }

  /**
   * SHA-256 behind a secret prefix, cut short. No list of parts is the start of another one and
   * most of the digest is left out, so nothing can be appended to it as to a bare prefix; it costs
   * half of an HMAC, and there is one for each field.
   */
  private static final class MemberDigests {
    private final byte[] key;
    private final MessageDigest sha256 = sha256();
    private final TypedParts parts;
    private final SortedMap<String, String> byName = new TreeMap<>();

    MemberDigests(Mac mac, TypedParts parts) {
      this.key = memberKey(mac, parts);
      this.parts = parts;
    }

    SortedMap<String, String> byName() {
      return byName;
    }

    void text(String name, @Nullable String text) {
      if (text != null) {
        start(name);
        parts.text(text);
        end(name);
      }
    }

    void arguments(JsonValue arguments) {
      if (arguments instanceof JsonObject object && canBeNamed(object)) {
        for (Map.Entry<String, JsonValue> member : object.members().entrySet()) {
          json(Fingerprint.ARGUMENTS + '.' + member.getKey(), member.getValue());
        }
      } else {
        json(Fingerprint.ARGUMENTS, arguments);
      }
    }

    private static boolean canBeNamed(JsonObject object) {
      if (object.members().size() > MAX_NAMED_ARGUMENTS) {
        return false;
      }
      for (String name : object.members().keySet()) {
        if (name.length() > MAX_NAME_LENGTH) {
          return false;
        }
      }
      return true;
    }

    private void json(String name, JsonValue value) {
      start(name);
      FingerprinterV1.json(parts, value);
      end(name);
    }

    private void start(String name) {
      parts.clear();
      parts.text(name);
    }

    private void end(String name) {
      sha256.update(key);
      parts.update(sha256);
      byName.put(name, HexFormat.of().formatHex(sha256.digest(), 0, MEMBER_DIGEST_BYTES));
    }
  }
}
