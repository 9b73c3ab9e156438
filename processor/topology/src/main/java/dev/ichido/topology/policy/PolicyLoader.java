package dev.ichido.topology.policy;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.decision.ActionPolicy;
import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.ActionPolicy.ActionEffect;
import dev.ichido.decision.ActionPolicy.Budget;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.ActionPolicy.Remote;
import dev.ichido.decision.ActionPolicy.Retry;
import dev.ichido.decision.ActionPolicy.ScopeKind;
import dev.ichido.decision.ActionPolicy.Share;
import dev.ichido.operation.TenantKey;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads tenants and actions. Every unknown member is an error with its place; members that are left
 * out take the values of the default policy. Whatever relies on a remote's dedupe window is checked
 * here, so that a configuration which cannot hold is refused before the first record.
 */
public final class PolicyLoader {
  private static final Map<String, ActionEffect> EFFECTS =
      Map.of("read", ActionEffect.READ, "write", ActionEffect.WRITE);
  private static final Map<String, ScopeKind> SCOPES =
      Map.of("global", ScopeKind.GLOBAL, "region", ScopeKind.REGION, "zone", ScopeKind.ZONE);
  private static final Map<String, Share> SHARES =
      Map.of("same_principal", Share.SAME_PRINCIPAL, "tenant", Share.TENANT);
  private static final Map<String, Remint> REMINTS =
      Map.of("report", Remint.REPORT, "hold", Remint.HOLD);
  private static final Map<String, DedupeAnchor> ANCHORS =
      Map.of(
          "first_request", DedupeAnchor.FIRST_REQUEST, "last_request", DedupeAnchor.LAST_REQUEST);
  private static final AbsentAfter STANDARD_ABSENCE = new AbsentAfter(3, Duration.ofSeconds(30));
  private static final Pattern RATE = Pattern.compile("([0-9]{1,9})/([smh])");

  private final ProviderCatalogue providers;

  public PolicyLoader(ProviderCatalogue providers) {
    this.providers = providers;
  }

  /** With the catalogue of this release. */
  public static PolicyLoader released() {
    return new PolicyLoader(ProviderCatalogue.released());
  }

  /**
   * A document of its own: {@code tenants}, {@code actions}, and optionally {@code outbox.max_age}
   * and {@code dead_letter.max_age}.
   *
   * @throws PolicyException with a code and what to check
   */
  public PolicySet load(LocatedTree tree) {
    Members root = Members.of(tree, tree.root(), "");
    Members tenants = root.object("tenants");
    Members actions = root.object("actions");
    Ages ages = new Ages(age(root.object("outbox")), age(root.object("dead_letter")));
    root.refuseOthers();
    return load(tenants, actions, ages);
  }

  /**
   * The members {@code tenants} and {@code actions} of a larger document, whose other members are
   * not looked at.
   *
   * @throws PolicyException with a code and what to check
   */
  public PolicySet loadFrom(LocatedTree tree, Ages ages) {
    Members root = Members.of(tree, tree.root(), "");
    return load(root.object("tenants"), root.object("actions"), ages);
  }

  /** One tree laid over another: objects member by member, everything else replaced. */
  public static JsonNode overlay(JsonNode under, JsonNode over) {
    if (!(under instanceof ObjectNode) || !(over instanceof ObjectNode)) {
      return over.deepCopy();
    }
    ObjectNode merged = under.deepCopy();
    over.properties()
        .forEach(
            entry ->
                merged.set(entry.getKey(), overlay(merged.path(entry.getKey()), entry.getValue())));
    return merged;
  }

  private PolicySet load(Members tenants, Members actions, Ages ages) {
    Map<String, TenantPolicy> loadedTenants = new LinkedHashMap<>();
    tenants.objects().forEach((name, members) -> loadedTenants.put(name, tenant(name, members)));
    Map<String, ActionRules> loadedActions = new LinkedHashMap<>();
    actions
        .objects()
        .forEach((name, members) -> loadedActions.put(name, action(name, members, ages)));
    return new PolicySet(loadedTenants, loadedActions);
  }

  private static Optional<Duration> age(Members members) {
    Optional<Duration> age = members.duration("max_age");
    members.refuseOthers();
    return age;
  }

  private static TenantPolicy tenant(String name, Members members) {
    List<String> principals =
        members
            .texts("principals")
            .orElseThrow(() -> PolicyException.memberMissing(members.where("principals")));
    Optional<List<String>> operators = members.texts("operators");
    TenantKey key =
        members
            .value(
                "key",
                "a secret text of at least " + TenantKey.MIN_BYTES + " bytes",
                node ->
                    node.isTextual()
                            && node.textValue().getBytes(UTF_8).length >= TenantKey.MIN_BYTES
                        ? TenantKey.of(node.textValue().getBytes(UTF_8))
                        : null)
            .orElseGet(() -> developmentKey(name));
    members.refuseOthers();
    return new TenantPolicy(name, principals, operators, key);
  }

  /**
   * The key of a tenant that states none: derived from its name, so that a first try needs no
   * secret. It protects nothing against guessing.
   */
  private static TenantKey developmentKey(String tenant) {
    try {
      return TenantKey.of(
          MessageDigest.getInstance("SHA-256")
              .digest(("ichido development key of tenant " + tenant).getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256, which every JDK has.", e);
    }
  }

  private ActionRules action(String name, Members members, Ages ages) {
    ActionPolicy standard = ActionPolicy.standard(name);
    String authorize = members.text("authorize").orElse(standard.authorize());
    JsonNode schema = members.node("schema");
    ActionPolicy policy =
        new ActionPolicy(
            name,
            members.choice("effect", EFFECTS).orElse(standard.effect()),
            members.choice("scope", SCOPES).orElse(standard.scope()),
            Set.copyOf(members.texts("volatile").orElse(List.of())),
            positive(members, "lease").orElse(standard.lease()),
            members.duration("retention").orElse(standard.retention()),
            members.duration("tombstone").orElse(standard.tombstone()),
            members.duration("clock_skew").orElse(standard.clockSkew()),
            members.duration("retry_horizon").orElse(standard.retryHorizon()),
            members.choice("share", SHARES).orElse(standard.share()),
            members.choice("remint", REMINTS).orElse(standard.remint()),
            members.duration("remint_window").orElse(standard.remintWindow()),
            schema.isMissingNode() ? null : schema.toString(),
            authorize,
            retry(members.object("retry"), standard.retry()),
            remote(members.object("remote"), standard.remote()));
    // How the remote is called is the executor's matter.
    members.node("http");
    members.node("mcp");
    members.refuseOthers();
    checkWindow(members, policy, ages);
    return new ActionRules(
        policy,
        Authorization.compile(members.where("authorize"), authorize),
        schema.isMissingNode()
            ? Optional.empty()
            : Optional.of(ArgumentsSchema.compile(members.where("schema"), schema)));
  }

  private static Retry retry(Members members, Retry standard) {
    Budget budget = budget(members.object("budget"), standard.budget());
    Retry retry =
        new Retry(
            members.flag("auto").orElse(standard.auto()),
            members.number("max_attempts", 1, 1_000_000).orElse(standard.maxAttempts()),
            positive(members, "initial").orElse(standard.initial()),
            positive(members, "max").orElse(standard.max()),
            budget);
    members.refuseOthers();
    return retry;
  }

  private static Budget budget(Members members, Budget standard) {
    int tokens =
        members.number("tokens", 0, Integer.MAX_VALUE).orElse(Math.toIntExact(standard.tokens()));
    Budget budget =
        members
            .value(
                "refill",
                "a rate such as 1/s, 30/m or 100/h",
                node -> node.isTextual() ? rate(tokens, node.textValue()) : null)
            .orElse(new Budget(tokens, standard.refillTokens(), standard.refillPeriod()));
    members.refuseOthers();
    return budget;
  }

  private static @Nullable Budget rate(int tokens, String text) {
    Matcher matcher = RATE.matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    Duration period =
        switch (matcher.group(2)) {
          case "s" -> Duration.ofSeconds(1);
          case "m" -> Duration.ofMinutes(1);
          default -> Duration.ofHours(1);
        };
    return new Budget(tokens, Long.parseLong(matcher.group(1)), period);
  }

  private Remote remote(Members members, Remote standard) {
    Remote base =
        members
            .text("provider")
            .map(provider -> providers.require(members.where("provider"), provider))
            .map(
                entry ->
                    new Remote(
                        entry.keyLimit(),
                        entry.dedupesOnKey(),
                        entry.dedupeWindow(),
                        entry.dedupeAnchor(),
                        standard.statusRead(),
                        standard.absentAfter()))
            .orElse(standard);
    Members absent = members.object("absent_after");
    AbsentAfter absentAfter = base.absentAfter();
    if (members.has("absent_after")) {
      absentAfter =
          new AbsentAfter(
              absent.number("reads", 1, 1_000).orElse(STANDARD_ABSENCE.reads()),
              absent.duration("over").orElse(STANDARD_ABSENCE.over()));
      absent.refuseOthers();
    } else if (members.states("absent_after")) {
      absentAfter = null;
    }
    Duration window = members.duration("dedupe_window").orElse(null);
    Remote remote =
        new Remote(
            members
                .number("key_limit", Remote.SHORTEST_KEY_LIMIT, 1_000_000)
                .orElse(base.keyLimit()),
            members.flag("dedupes_on_key").orElse(base.dedupesOnKey()),
            members.states("dedupe_window") ? window : base.dedupeWindow(),
            members.choice("dedupe_anchor", ANCHORS).orElse(base.dedupeAnchor()),
            members.flag("status_read").orElse(base.statusRead()),
            absentAfter);
    members.refuseOthers();
    return remote;
  }

  private static Optional<Duration> positive(Members members, String member) {
    Optional<Duration> duration = members.duration(member);
    if (duration.isPresent() && duration.get().isZero()) {
      throw PolicyException.valueWrong(members.where(member), "a duration above zero");
    }
    return duration;
  }

  /**
   * Whoever relies on the remote's key must be sure that no request goes out after the remote has
   * forgotten it. Retries, the outbox and redriven dead letters are all such requests; how old the
   * latter two get, the configuration only says.
   */
  private static void checkWindow(Members members, ActionPolicy policy, Ages ages) {
    Duration window = policy.remote().dedupeWindow();
    if (policy.effect() == ActionEffect.READ || !policy.remote().dedupesOnKey() || window == null) {
      return;
    }
    Map<String, Duration> spans = new LinkedHashMap<>();
    spans.put("retry_horizon", policy.retryHorizon());
    ages.outbox().ifPresent(age -> spans.put("outbox.max_age", age));
    ages.deadLetter().ifPresent(age -> spans.put("dead_letter.max_age", age));
    spans.forEach(
        (member, span) -> {
          if (span.plus(policy.clockSkew()).compareTo(window) >= 0) {
            throw PolicyException.windowExceeded(members.where(), member, Durations.format(window));
          }
        });
  }
}
