package dev.ichido.operation.fingerprint;

import static java.util.Objects.requireNonNull;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What an intent means, as a keyed digest. Intents of one version and tenant mean the same exactly
 * when their digests are equal.
 *
 * @param version the rules it was made under; only fingerprints of one version are compared
 * @param digest lower-case hex
 * @param memberDigests lower-case hex of each top-level field by its name: {@code action}, {@code
 *     action_version}, {@code target}, {@code precondition}, and {@code arguments.NAME} for each
 *     argument, or {@code arguments} for all of them at once. They tell a person what differs and
 *     decide nothing.
 * @param volatileMembers the members of the arguments that were left out, by the list of the action
 *     at that time; null where it was not noted
 */
public record Fingerprint(
    int version,
    String digest,
    SortedMap<String, String> memberDigests,
    @Nullable SortedSet<String> volatileMembers) {
  /** The name that stands for all arguments at once. */
  public static final String ARGUMENTS = "arguments";

  public Fingerprint {
    requireNonNull(digest, "digest");
    memberDigests = Collections.unmodifiableSortedMap(new TreeMap<>(memberDigests));
    volatileMembers =
        volatileMembers == null
            ? null
            : Collections.unmodifiableSortedSet(new TreeSet<>(volatileMembers));
  }

  /** One of which it is not known what was left out. */
  public Fingerprint(int version, String digest, SortedMap<String, String> memberDigests) {
    this(version, digest, memberDigests, null);
  }

  /** Without what only serves to compare it with another and to name differences. */
  public Fingerprint bare() {
    return new Fingerprint(version, digest, new TreeMap<>());
  }

  /**
   * Whether both mean the same: equal version and equal digest. It says so of a duplicate only when
   * that was taken under the stored version and list of volatile members.
   */
  public boolean matches(Fingerprint other) {
    return version == other.version && digest.equals(other.digest);
  }

  /**
   * The names of the top-level fields that differ, sorted; never their values.
   *
   * @throws IllegalArgumentException for a fingerprint of another version
   */
  public List<String> differingMembers(Fingerprint other) {
    if (version != other.version) {
      throw new IllegalArgumentException(
          "Expected fingerprints of one version, but they are %d and %d. Check that a duplicate is compared under the stored version."
              .formatted(version, other.version));
    }
    boolean whole =
        memberDigests.containsKey(ARGUMENTS) || other.memberDigests.containsKey(ARGUMENTS);
    TreeSet<String> names = new TreeSet<>(memberDigests.keySet());
    names.addAll(other.memberDigests.keySet());
    TreeSet<String> differing = new TreeSet<>();
    for (String name : names) {
      String mine = memberDigests.get(name);
      if (mine == null || !mine.equals(other.memberDigests.get(name))) {
        differing.add(whole && name.startsWith(ARGUMENTS) ? ARGUMENTS : name);
      }
    }
    return List.copyOf(differing);
  }
}
