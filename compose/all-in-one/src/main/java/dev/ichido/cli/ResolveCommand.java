package dev.ichido.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.inbox.OperationReader;
import dev.ichido.inbox.OperationSummary;
import dev.ichido.schemas.JournalEntry;
import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.Outcome;
import dev.ichido.schemas.ResultKind;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "resolve",
    mixinStandardHelpOptions = true,
    description = {
      "Settles an operation that is unknown or stuck, as a person who looked at the remote.",
      "It is written into the journal with who and why. Exit code 1 when it was refused, because the"
          + " state has moved on or the person may not."
    })
final class ResolveCommand implements Callable<Integer> {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  private static final String RESOLVED = "RESOLVED";

  /** What a person can be sure of. */
  private enum Settlement {
    SUCCEEDED(Outcome.SUCCEEDED),
    FAILED_TERMINAL(Outcome.FAILED_TERMINAL),
    NOT_STARTED(Outcome.NOT_STARTED);

    private final Outcome outcome;

    Settlement(Outcome outcome) {
      this.outcome = outcome;
    }
  }

  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private final DatabaseAccess access = new DatabaseAccess();

  @Parameters(index = "0", paramLabel = "TENANT")
  private String tenant = "";

  @Parameters(index = "1", paramLabel = "OPERATION")
  private String id = "";

  @Option(
      names = "--scope",
      defaultValue = "global",
      description = "Where the remote's own dedupe holds. Default: ${DEFAULT-VALUE}.")
  private String scope = "global";

  @Option(
      names = "--as",
      required = true,
      paramLabel = "SETTLEMENT",
      description =
          "One of ${COMPLETION-CANDIDATES}. NOT_STARTED lets the operation be attempted again where"
              + " the retry_horizon of its action is not over.")
  private Settlement as = Settlement.SUCCEEDED;

  @Option(
      names = "--evidence",
      required = true,
      paramLabel = "TEXT",
      description = "Why that is sure: what was seen at the remote, and where.")
  private String evidence = "";

  @Option(
      names = "--by",
      required = true,
      paramLabel = "WHO",
      description = "The person, such as person:maria; one of the tenant's operators.")
  private String by = "";

  @Option(
      names = "--attempt",
      paramLabel = "N",
      description =
          "The attempt that you looked at, as operation show prints it; refused when another has"
              + " begun. Default: the latest that the journal tells now.")
  private @Nullable Integer attempt;

  @Option(
      names = "--remote-reference",
      paramLabel = "R",
      description = "The remote's own name of the effect.")
  private @Nullable String reference;

  @Option(
      names = "--body",
      paramLabel = "JSON",
      description = "The result that waiting deliveries and later duplicates are given.")
  private @Nullable String body;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description = "How long to wait for the verdict. Default: ${DEFAULT-VALUE}.")
  private int wait = 30;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException, SQLException {
    Output output = Output.of(spec);
    check();
    try (access) {
      TopicAccess topics = access.topics();
      OperationResult resolution =
          OperationResult.newBuilder()
              .setKind(ResultKind.RESOLVE)
              .setResultId("resolve-" + UUID.randomUUID())
              .setTenant(tenant)
              .setScope(scope)
              .setOperationId(id)
              .setAttempt(attempt == null ? findLatestAttempt() : attempt)
              .setOutcome(as.outcome)
              .setRemoteReference(reference)
              .setBody(body)
              .setReportedBy(by)
              .setEvidence(evidence)
              .setReportedAt(Clock.systemUTC().instant().truncatedTo(ChronoUnit.MILLIS))
              .build();
      Optional<JournalEntry> decided =
          new Resolution(topics).settle(resolution, Duration.ofSeconds(wait));
      if (json) {
        output.document(document(resolution, decided));
      }
      JournalEntry line =
          decided.orElseThrow(
              () ->
                  CommandException.failed(
                      "VERDICT_MISSING",
                      "Expected a verdict within "
                          + wait
                          + " s, but the journal shows none. The resolution "
                          + resolution.getResultId()
                          + " was sent and is decided when a processor runs; check that one does,"
                          + " and look with operation show before sending another.",
                      null));
      if (!line.getVerdict().equals(RESOLVED)) {
        throw refused(line);
      }
      if (!json) {
        output.text(told(line));
      }
      return ExitCode.HOLDS;
    }
  }

  private @Nullable Integer findLatestAttempt() throws SQLException {
    return access
        .find(config -> config.inbox().database(), "ichido.operation")
        .flatMap(inbox -> new OperationReader(inbox).find(tenant, scope, id))
        .map(OperationSummary::attempt)
        .filter(latest -> latest > 0)
        .orElse(null);
  }

  private void check() {
    if (wait < 0) {
      throw CommandException.usage(
          "WAIT", "Expected --wait of 0 seconds or more, but it is less. Nothing was sent.");
    }
    if (as == Settlement.NOT_STARTED && (reference != null || body != null)) {
      throw CommandException.usage(
          "RESULT_OF_NOTHING",
          "Expected no --remote-reference and no --body with NOT_STARTED, but there is one. Check"
              + " which settlement is meant. Nothing was sent.");
    }
    if (body != null) {
      try {
        if (JSON.readTree(body).isMissingNode()) {
          throw bodyNotJson(null);
        }
      } catch (JsonProcessingException e) {
        throw bodyNotJson(e);
      }
    }
  }

  private static CommandException bodyNotJson(@Nullable Throwable cause) {
    String message =
        "Expected --body to be one JSON text, but it is none. Check its quoting. Nothing was sent.";
    return cause == null
        ? CommandException.usage("BODY_NOT_JSON", message)
        : CommandException.usage("BODY_NOT_JSON", message, cause);
  }

  /** Who may not settle the operation learns nothing of its state. */
  private static ObjectNode document(OperationResult resolution, Optional<JournalEntry> decided) {
    ObjectNode document =
        JSON.createObjectNode()
            .put("tenant", resolution.getTenant())
            .put("scope", resolution.getScope())
            .put("operation_id", resolution.getOperationId())
            .put("result_id", resolution.getResultId());
    Optional<JournalEntry> told = decided.filter(line -> !line.getVerdict().equals("UNAUTHORIZED"));
    return document
        .put("verdict", decided.map(JournalEntry::getVerdict).orElse(null))
        .put("code", decided.map(JournalEntry::getCode).orElse(null))
        .put("state_before", told.map(JournalEntry::getStateBefore).orElse(null))
        .put("state", told.map(JournalEntry::getStateAfter).orElse(null))
        .put("by", resolution.getReportedBy())
        .put("evidence", resolution.getEvidence())
        .put("decided_at", decided.map(line -> line.getAt().toString()).orElse(null));
  }

  static String told(JournalEntry line) {
    String text =
        "%s  %s  %s%n".formatted(line.getVerdict(), line.getStateAfter(), line.getOperationId());
    return line.getCode() == null
        ? text
        : text
            + "%s: no attempt follows, and intents are told RETRY_LATER. Settle it as SUCCEEDED or FAILED_TERMINAL, or cancel it.%n"
                .formatted(line.getCode());
  }

  static CommandException refused(JournalEntry line) {
    String code = line.getCode() == null ? line.getVerdict() : line.getCode();
    String message =
        switch (code) {
          case "NOT_RESOLVABLE" ->
              "Expected an operation that is unknown or stuck, but it is "
                  + line.getStateBefore()
                  + (line.getStateBefore().equals("FAILED_RETRYABLE")
                      ? ", which goes on by itself or, once its retry_horizon is over, is settled as"
                          + " SUCCEEDED or FAILED_TERMINAL, or cancelled"
                      : "")
                  + ". Look at it with operation show.";
          case "EVIDENCE_MISSING" ->
              "Expected a person and the evidence, but one of them is blank. Check --by and"
                  + " --evidence.";
          case "UNAUTHORIZED" ->
              "Expected a person who may settle operations of this tenant, but the policy does not"
                  + " let this one. Check --by and the tenant's operators; an agent never settles"
                  + " its own operation.";
          default ->
              "Expected the resolution to be taken, but it was answered "
                  + line.getVerdict()
                  + ". Look at the operation with operation show.";
        };
    return CommandException.failed(code, message + " Nothing was changed.", null);
  }
}
