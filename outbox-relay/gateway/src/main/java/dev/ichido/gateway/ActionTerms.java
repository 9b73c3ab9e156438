package dev.ichido.gateway;

import java.time.Duration;

/**
 * What is published about an action. None of it is judged here: the processor holds intents against
 * the policy.
 *
 * @param read whether the action changes nothing, so that no key is asked for
 * @param scope global, region or zone
 * @param lease how long an attempt may run before its outcome counts as unknown
 * @param retention how long a result is replayed, from settlement
 * @param tombstone how long the bare identity is remembered after that
 * @param retryHorizon no attempt starts later than this after the first
 */
public record ActionTerms(
    boolean read,
    String scope,
    Duration lease,
    Duration retention,
    Duration tombstone,
    Duration retryHorizon) {}
