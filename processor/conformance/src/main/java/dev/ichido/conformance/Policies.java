package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import dev.ichido.topology.policy.LocatedTree;
import dev.ichido.topology.policy.PolicyLoader;
import dev.ichido.topology.policy.PolicySet;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** The default policy and what scenarios lay over it. */
final class Policies {
  private static final String RESOURCE = "default-policy.yaml";
  private static final JsonNode DEFAULT = readDefault();
  private static final PolicyLoader LOADER = PolicyLoader.released();

  private Policies() {}

  /** The default policy with these members laid over it. */
  static PolicySet with(JsonNode members) {
    JsonNode merged =
        members.isMissingNode() || members.isNull()
            ? DEFAULT
            : PolicyLoader.overlay(DEFAULT, members);
    return LOADER.load(LocatedTree.of(merged));
  }

  private static JsonNode readDefault() {
    try (InputStream in = Policies.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException("Expected " + RESOURCE + " on the class path.");
      }
      return LocatedTree.read(RESOURCE, new String(in.readAllBytes(), UTF_8)).root();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
