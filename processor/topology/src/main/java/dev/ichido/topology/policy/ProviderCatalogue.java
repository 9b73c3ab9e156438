package dev.ichido.topology.policy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.Remote;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What known providers promise about their idempotency keys: versioned data with its sources. */
public final class ProviderCatalogue {
  private static final String RESOURCE = "providers.yaml";

  private final Map<String, Entry> entries;

  /**
   * One provider.
   *
   * @param keyLimit longest key in characters
   * @param dedupesOnKey whether the provider takes a key at all
   * @param dedupeWindow null when the provider does not say
   */
  public record Entry(
      int keyLimit,
      boolean dedupesOnKey,
      @Nullable Duration dedupeWindow,
      DedupeAnchor dedupeAnchor) {}

  public ProviderCatalogue(Map<String, Entry> entries) {
    this.entries = Map.copyOf(entries);
  }

  /** The catalogue of this release. */
  public static ProviderCatalogue released() {
    try (InputStream in = ProviderCatalogue.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        return new ProviderCatalogue(Map.of());
      }
      return of(LocatedTree.read(RESOURCE, new String(in.readAllBytes(), UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException("Expected " + RESOURCE + " to be readable.", e);
    }
  }

  static ProviderCatalogue of(LocatedTree tree) {
    Map<String, Entry> entries = new LinkedHashMap<>();
    Members.of(tree, tree.root(), "")
        .object("providers")
        .objects()
        .forEach((name, members) -> entries.put(name, entry(members)));
    return new ProviderCatalogue(entries);
  }

  /**
   * A window that is anchored later than at the first request is counted from the first request all
   * the same: that is never too long. A provider without a key limit has no key.
   */
  private static Entry entry(Members members) {
    Optional<Integer> keyLimit = members.number("key_limit", 1, 1_000_000);
    DedupeAnchor anchor =
        members
            .text("dedupe_anchor")
            .filter("last_request"::equals)
            .map(text -> DedupeAnchor.LAST_REQUEST)
            .orElse(DedupeAnchor.FIRST_REQUEST);
    return new Entry(
        keyLimit.orElse(Remote.SHORTEST_KEY_LIMIT),
        keyLimit.isPresent(),
        members.duration("dedupe_window").orElse(null),
        anchor);
  }

  public Map<String, Entry> entries() {
    return entries;
  }

  Entry require(String where, String provider) {
    Entry entry = entries.get(provider);
    if (entry == null) {
      throw PolicyException.providerUnknown(where, new TreeSet<>(entries.keySet()));
    }
    return entry;
  }
}
