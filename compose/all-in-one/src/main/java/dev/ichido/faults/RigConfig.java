package dev.ichido.faults;

import dev.ichido.app.LoneRole.Kind;
import dev.ichido.embedded.EmbeddedDatabase;
import dev.ichido.embedded.LoopbackPorts;
import dev.ichido.remotes.RemoteKind;
import java.util.Map;

/**
 * The one configuration of the battery's roles: short times, so that a fault is over while one
 * looks on, and one action for each contract that is tried.
 */
final class RigConfig {
  /** How long an attempt may run. */
  static final String LEASE = "6s";

  private static final String RESULT_OF_1 = "result_schema: 1";

  private RigConfig() {}

  /** The same configuration after the tool's next release. */
  static String released(String text) {
    return text.replace(RESULT_OF_1, "result_schema: 2");
  }

  static String text(
      String actions,
      int brokerPort,
      String registryUrl,
      EmbeddedDatabase database,
      Map<Kind, Wire> databaseWires,
      Map<RemoteKind, Remote> remotes) {
    return SERVERS
            .replace("BROKER", LoopbackPorts.HOST + ":" + brokerPort)
            .replace("REGISTRY", registryUrl)
            .replace("RELAY_DATABASE", database(Kind.RELAY, database, databaseWires))
            .replace("EXECUTOR_DATABASE", database(Kind.EXECUTOR, database, databaseWires))
            .replace("INBOX_DATABASE", database(Kind.INBOX, database, databaseWires))
        + (ACTIONS + actions)
            .replace("LEASE", LEASE)
            .replace("LEGACY_PORT", port(RemoteKind.LEGACY, remotes))
            .replace("IETF_PORT", port(RemoteKind.IETF, remotes))
            .replace("LEGACY", url(RemoteKind.LEGACY, remotes))
            .replace("IETF", url(RemoteKind.IETF, remotes))
            .replace("GCLOUD", url(RemoteKind.GCLOUD, remotes));
  }

  private static String database(Kind role, EmbeddedDatabase database, Map<Kind, Wire> wires) {
    Wire wire = wires.get(role);
    return "url: 'jdbc:postgresql://%s:%d/%s?socketTimeout=10&connectTimeout=2', user: '%s', password: '%s'"
        .formatted(
            LoopbackPorts.HOST,
            wire == null ? 0 : wire.port(),
            database.databaseName(),
            database.user(),
            database.password());
  }

  private static String url(RemoteKind kind, Map<RemoteKind, Remote> remotes) {
    return "http://" + LoopbackPorts.HOST + ":" + port(kind, remotes);
  }

  private static String port(RemoteKind kind, Map<RemoteKind, Remote> remotes) {
    Remote remote = remotes.get(kind);
    return String.valueOf(remote == null ? 0 : remote.wire().port());
  }

  private static final String SERVERS =
      """
      kafka:
        bootstrap.servers: BROKER
        session.timeout.ms: 4000
        heartbeat.interval.ms: 1000
        consumer.session.timeout.ms: 4000
        consumer.heartbeat.interval.ms: 1000
        # A second processor gets work at once, whatever it has to restore for that.
        acceptable.recovery.lag: 100000000
      registry: { schema.registry.url: 'REGISTRY' }
      topics: { prefix: ichido, partitions: 4 }
      outbox: { RELAY_DATABASE }
      relay: { max_backoff: 1s }
      processor: { state_dir: '${env:ICHIDO_STATE}', standbys: 1 }
      executor: { database: { EXECUTOR_DATABASE }, breaker_wait: 1s, breaker_failure_rate: 90 }
      inbox: { database: { INBOX_DATABASE } }
      """;

  /** Of a call that stays under way while processes are stopped and started. */
  private static final String LONG_TIMEOUTS = "{ connect: 40s, first_byte: 40s, total: 40s }";

  /** The remote with a key. */
  private static final String KEYED =
      """
      remote: ietf
            url: IETF/payments
            headers: { X-Business-Key: '{arguments.order}', X-Natural-Key: '{arguments.order}' }
            key: { header: Idempotency-Key, quoted: true, charset: '[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]+' }
            timeouts: TIMEOUTS
            answers:
              expected: [201]
              not_accepted: [429]
              terminal: [400, 402, 422]
              rules: [{ status: 409, means: UNKNOWN, reason: KEY_IN_FLIGHT }]
            reference: $.id\
      """
          .strip();

  /** The remote with a key, that keeps it for a day and can be asked. */
  private static final String CHARGED =
      """
      retry: RETRY
          remote: { dedupes_on_key: true, dedupe_window: 24h, status_read: true, absent_after: { reads: 2, over: 1s } }
          http:
            KEYED
            status: { url: 'IETF/payments/{arguments.order}', absent: [404], found: $.found, reference: $.reference }\
      """
          .replace("KEYED", KEYED);

  private static final String ACTIONS =
      """
      tenants:
        t1: { principals: ['agent:a', 'agent:b'], operators: ['person:ops'] }
        t2: { principals: ['agent:c'] }
      actions:
        # A remote that honours no key and can be asked. Most of the load goes here.
        pay: { lease: LEASE, retry: RETRY, remote: ASKED, http: TRANSFER }
        # A tool whose answers have a form, of which there will be a second version.
        pay.formed: { lease: LEASE, retry: RETRY, remote: ASKED, http: FORMED }
        # A lease and a patience that outlast every pause: a second attempt is never due.
        pay.lasting: { lease: 45s, retry: RETRY, remote: ASKED, http: LASTING }
        # A lease that outlasts three restarts of a busy executor, and what queues up meanwhile.
        pay.patient: { lease: 45s, retry: RETRY, remote: ASKED, http: TRANSFER }
        # A lease that is shorter than the work.
        pay.hasty: { lease: 2s, retry: RETRY, remote: ASKED, http: PATIENT }
        # Its remote has a name, which is looked up for the first call of a process.
        pay.named: { lease: 3s, retry: RETRY, remote: ASKED, http: NAMED_ASKED }
        charge.named:
          lease: 3s
          NAMED_CHARGED
        # Everything about it is forgotten soon.
        pay.brief:
          lease: LEASE
          retention: 5s
          tombstone: 5s
          clock_skew: 1s
          retry_horizon: 3s
          retry: RETRY
          remote: ASKED
          http: TRANSFER
        # Neither a key nor a status read: what is lost is UNKNOWN until a person looks.
        pay.blind:
          lease: LEASE
          retry: RETRY
          remote: { status_read: false, absent_after: null }
          http: { BLIND_TRANSFER }
        # The remote's dedupe ends at the border of a region.
        pay.regional: { scope: region, lease: LEASE, retry: RETRY, remote: ASKED, http: REGIONAL }
        # What the effect is for is named by the operation alone: twins have equal arguments.
        gift: { lease: LEASE, remint: report, remint_window: 1h, retry: RETRY, remote: ASKED, http: GIFT }
        gift.held: { lease: LEASE, remint: hold, remint_window: 1h, retry: RETRY, remote: ASKED, http: GIFT }
        # A remote that dedupes on a key, for a day.
        charge:
          lease: LEASE
          CHARGED
        # The same under a lease that outlasts the restarts of a busy executor.
        charge.patient:
          lease: 30s
          CHARGED
        # The same key, remembered for a few seconds, and nothing else to hold on to.
        charge.brief:
          lease: LEASE
          clock_skew: 1s
          retry_horizon: 5s
          retry: RETRY
          remote: { dedupes_on_key: true, dedupe_window: 8s, status_read: false, absent_after: null }
          http:
            KEYED
        # A remote whose objects have versions.
        object.put:
          lease: LEASE
          retry: RETRY
          remote: ASKED
          http:
            remote: gcloud
            method: PUT
            url: GCLOUD/bucket/{arguments.object}
            headers: { X-Business-Key: '{arguments.order}', X-Natural-Key: '{arguments.order}' }
            precondition: { header: x-goog-if-generation-match }
            timeouts: TIMEOUTS
            answers: { expected: [200], terminal: [412] }
            reference_header: ETag
            status: { url: 'GCLOUD/status?natural_key={arguments.order}', absent: [404], found: $.found, reference: $.reference }
        look:
          effect: read
          http: { remote: legacy, url: 'LEGACY/status?natural_key={arguments.order}', answers: { expected: [200, 404] } }
      """
          .replace("BLIND_TRANSFER", plain("/transfers", "{arguments.order}"))
          .replace("TRANSFER", asked("/transfers", "{arguments.order}"))
          .replace(
              "LASTING",
              asked("/transfers", "{arguments.order}")
                  .replace("TIMEOUTS", "{ connect: 20s, first_byte: 20s, total: 20s }"))
          .replace(
              "PATIENT",
              asked("/transfers", "{arguments.order}")
                  .replace("TIMEOUTS", "{ connect: 2s, first_byte: 9s, total: 9s }"))
          .replace(
              "NAMED_ASKED",
              asked("/transfers", "{arguments.order}")
                  .replace("LEGACY", "http://localhost:LEGACY_PORT")
                  .replace("TIMEOUTS", LONG_TIMEOUTS))
          .replace(
              "FORMED",
              asked("/transfers", "{arguments.order}")
                  .replace(", status:", ", " + RESULT_OF_1 + ", status:"))
          .replace("REGIONAL", asked("/transfers", "{arguments.order}@{scope}"))
          .replace("GIFT", asked("/gifts", "{operation_id}"))
          .replace(
              "NAMED_CHARGED",
              CHARGED
                  .replace("IETF", "http://localhost:IETF_PORT")
                  .replace("TIMEOUTS", LONG_TIMEOUTS))
          .replace("CHARGED", CHARGED)
          .replace("KEYED", KEYED)
          .replace(
              "RETRY",
              "{ max_attempts: 9, initial: 200ms, max: 1s, budget: { tokens: 100000, refill:"
                  + " 10000/s } }")
          .replace("ASKED", "{ status_read: true, absent_after: { reads: 2, over: 1s } }")
          .replace("TIMEOUTS", "{ connect: 2s, first_byte: 3s, total: 4s }");

  /** The remote without a key; what an effect is for is in two headers. */
  private static String plain(String path, String key) {
    return "remote: legacy, url: 'LEGACY"
        + path
        + "', headers: { X-Business-Key: '"
        + key
        + "', X-Natural-Key: '"
        + key
        + "' }, timeouts: TIMEOUTS, answers: { expected: [2xx], terminal: [402] }, reference:"
        + " $.reference";
  }

  private static String asked(String path, String key) {
    return "{ "
        + plain(path, key)
        + ", status: { url: 'LEGACY/status?natural_key="
        + key
        + "', absent: [404], found: $.found, reference: $.reference } }";
  }
}
