package dev.ichido.decision;

import dev.ichido.decision.ActionPolicy.AbsentAfter;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import dev.ichido.decision.ActionPolicy.Remint;
import dev.ichido.decision.ActionPolicy.Remote;
import dev.ichido.decision.ActionPolicy.Retry;
import dev.ichido.decision.ActionPolicy.Share;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Variations of the default policy. */
final class Policies {
  static final ActionPolicy STANDARD = ActionPolicy.standard(Journey.ACTION);
  static final Duration WINDOW = Duration.ofHours(24);

  /** A remote that dedupes on our key for a day from the first request. */
  static final ActionPolicy KEYED = remote(STANDARD, true, WINDOW, DedupeAnchor.FIRST_REQUEST);

  private Policies() {}

  static ActionPolicy remote(
      ActionPolicy p, boolean dedupes, @Nullable Duration window, DedupeAnchor anchor) {
    Remote r = p.remote();
    return with(
        p,
        p.retry(),
        new Remote(r.keyLimit(), dedupes, window, anchor, r.statusRead(), r.absentAfter()),
        p.share(),
        p.remint());
  }

  static ActionPolicy statusRead(ActionPolicy p, boolean can, @Nullable AbsentAfter absentAfter) {
    Remote r = p.remote();
    return with(
        p,
        p.retry(),
        new Remote(
            r.keyLimit(), r.dedupesOnKey(), r.dedupeWindow(), r.dedupeAnchor(), can, absentAfter),
        p.share(),
        p.remint());
  }

  static ActionPolicy keyLimit(ActionPolicy p, int limit) {
    Remote r = p.remote();
    return with(
        p,
        p.retry(),
        new Remote(
            limit,
            r.dedupesOnKey(),
            r.dedupeWindow(),
            r.dedupeAnchor(),
            r.statusRead(),
            r.absentAfter()),
        p.share(),
        p.remint());
  }

  static ActionPolicy auto(ActionPolicy p, boolean auto) {
    Retry r = p.retry();
    return with(
        p,
        new Retry(auto, r.maxAttempts(), r.initial(), r.max(), r.budget()),
        p.remote(),
        p.share(),
        p.remint());
  }

  static ActionPolicy maxAttempts(ActionPolicy p, int most) {
    Retry r = p.retry();
    return with(
        p,
        new Retry(r.auto(), most, r.initial(), r.max(), r.budget()),
        p.remote(),
        p.share(),
        p.remint());
  }

  static ActionPolicy shared(ActionPolicy p) {
    return with(p, p.retry(), p.remote(), Share.TENANT, p.remint());
  }

  static ActionPolicy holding(ActionPolicy p) {
    return with(p, p.retry(), p.remote(), p.share(), Remint.HOLD);
  }

  static ActionPolicy times(
      ActionPolicy p,
      Duration lease,
      Duration retention,
      Duration tombstone,
      Duration skew,
      Duration horizon) {
    return new ActionPolicy(
        p.name(),
        p.effect(),
        p.scope(),
        Set.of(),
        lease,
        retention,
        tombstone,
        skew,
        horizon,
        p.share(),
        p.remint(),
        p.remintWindow(),
        p.schema(),
        p.authorize(),
        p.retry(),
        p.remote());
  }

  private static ActionPolicy with(
      ActionPolicy p, Retry retry, Remote remote, Share share, Remint remint) {
    return new ActionPolicy(
        p.name(),
        p.effect(),
        p.scope(),
        p.volatileMembers(),
        p.lease(),
        p.retention(),
        p.tombstone(),
        p.clockSkew(),
        p.retryHorizon(),
        share,
        remint,
        p.remintWindow(),
        p.schema(),
        p.authorize(),
        retry,
        remote);
  }
}
