package dev.ichido.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.conformance.ConformanceReport.Failure;
import dev.ichido.conformance.ConformanceReport.Outcome;
import dev.ichido.operation.OperationId;
import dev.ichido.operation.OperationKey;
import dev.ichido.operation.Refusal;
import dev.ichido.operation.TenantKey;
import dev.ichido.operation.fingerprint.CanonicalForm;
import dev.ichido.operation.fingerprint.Fingerprint;
import dev.ichido.operation.fingerprint.FingerprintResult;
import dev.ichido.operation.fingerprint.FingerprintVersions;
import dev.ichido.operation.fingerprint.IntentMeaning;
import dev.ichido.topology.policy.PolicyException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Holds the shipped code against scenario files. */
public final class Conformance {
  private static final TenantKey KEY = TenantKey.of("a key for scenarios only".getBytes(UTF_8));

  private Conformance() {}

  /**
   * Runs every scenario of the files.
   *
   * @throws UncheckedIOException when a file cannot be read
   */
  public static ConformanceReport run(List<Path> files) {
    return run(files, id -> {});
  }

  /**
   * Runs every scenario of the files.
   *
   * @param progress is told the id of each scenario before it runs
   * @throws UncheckedIOException when a file cannot be read
   */
  public static ConformanceReport run(List<Path> files, Consumer<String> progress) {
    List<List<String>> read = files.stream().map(Conformance::lines).toList();
    List<Outcome> outcomes = new ArrayList<>();
    for (List<String> lines : read) {
      for (int i = 0; i < lines.size(); i++) {
        if (lines.get(i).isBlank()) {
          continue;
        }
        String id = Scenario.idOf(lines.get(i), i + 1);
        progress.accept(id);
        outcomes.add(new Outcome(id, runLine(id, lines.get(i))));
      }
    }
    return new ConformanceReport(outcomes);
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "Expected a file of scenarios in UTF-8 at %s, but it can't be read. Check the path."
              .formatted(file),
          e);
    }
  }

  /** Runs one line of a file. */
  public static Optional<Failure> runLine(String id, String line) {
    try {
      Scenario scenario = Scenario.of(line);
      return switch (scenario.body()) {
        case Scenario.Steps it -> steps(scenario, it);
        case Scenario.Fingerprints it -> whole(id, fingerprints(it));
        case Scenario.OperationIds it -> whole(id, operationIds(it));
        case Scenario.Keys it -> whole(id, keys(it));
        case Scenario.PolicyCheck it -> whole(id, policyCheck(scenario, it));
      };
    } catch (ScenarioException | PolicyException e) {
      return whole(id, Optional.of(String.valueOf(e.getMessage())));
    }
  }

  private static Optional<Failure> whole(String id, Optional<String> difference) {
    return difference.map(text -> new Failure(id, -1, "", text));
  }

  private static Optional<Failure> steps(Scenario scenario, Scenario.Steps steps) {
    try (ScenarioRun run = new ScenarioRun(scenario.policy())) {
      return run.run(steps).map(it -> new Failure(scenario.id(), it.step(), it.verb(), it.text()));
    }
  }

  private static Optional<String> fingerprints(Scenario.Fingerprints it) {
    FingerprintResult a = fingerprint(it.a(), it.volatileMembers());
    FingerprintResult b = fingerprint(it.b(), it.volatileMembers());
    String found;
    Optional<String> code = Optional.empty();
    if (a instanceof FingerprintResult.Refused refused) {
      found = "INVALID";
      code = Optional.of(refused.refusal().code().name());
    } else if (b instanceof FingerprintResult.Refused refused) {
      found = "INVALID";
      code = Optional.of(refused.refusal().code().name());
    } else {
      found = taken(a).matches(taken(b)) ? "SAME" : "DIFFERENT";
    }
    if (!found.equals(it.expect())) {
      return Optional.of(
          StepOutput.differs(
              "fingerprint", it.expect(), code.map(c -> found + " " + c).orElse(found)));
    }
    if (it.code() != null && !it.code().equals(code.orElse(null))) {
      return Optional.of(StepOutput.differs("code", it.code(), code.orElse("none")));
    }
    return canonical(it);
  }

  private static Optional<String> canonical(Scenario.Fingerprints it) {
    String expected = it.sha256OfCanonicalA();
    if (expected == null) {
      return Optional.empty();
    }
    String found =
        switch (CanonicalForm.read(it.a())) {
          case CanonicalForm.Reading.Read read ->
              sha256(read.form().without(Set.copyOf(it.volatileMembers())).text());
          case CanonicalForm.Reading.Refused refused -> refused.refusal().code().name();
        };
    return found.equals(expected)
        ? Optional.empty()
        : Optional.of(StepOutput.differs("sha256_of_canonical_a", expected, found));
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Expected SHA-256, which every JDK has.", e);
    }
  }

  private static Fingerprint taken(FingerprintResult result) {
    return switch (result) {
      case FingerprintResult.Taken it -> it.fingerprint();
      case FingerprintResult.Refused it ->
          throw new IllegalStateException("Expected a fingerprint, but " + it.refusal().code());
    };
  }

  private static FingerprintResult fingerprint(String arguments, List<String> volatileMembers) {
    return FingerprintVersions.released()
        .current()
        .fingerprint(
            KEY,
            new IntentMeaning(
                "pay.transfer", null, "acct:1", arguments, null, Set.copyOf(volatileMembers)));
  }

  private static Optional<String> operationIds(Scenario.OperationIds it) {
    Optional<Refusal> refusal = OperationId.check(it.value());
    String found = refusal.isPresent() ? "INVALID" : "ACCEPT";
    if (!found.equals(it.expect())) {
      return Optional.of(StepOutput.differs("operation_id", it.expect(), found));
    }
    String code = refusal.map(r -> r.code().name()).orElse("none");
    return it.code() == null || it.code().equals(code)
        ? Optional.empty()
        : Optional.of(StepOutput.differs("code", it.code(), code));
  }

  private static Optional<String> keys(Scenario.Keys it) {
    String found = recordKey(it.a()).equals(recordKey(it.b())) ? "SAME" : "DIFFERENT";
    return found.equals(it.expect())
        ? Optional.empty()
        : Optional.of(StepOutput.differs("keys", it.expect(), found));
  }

  private static String recordKey(List<String> parts) {
    return new OperationKey(parts.get(0), parts.get(1), parts.get(2)).recordKey();
  }

  private static Optional<String> policyCheck(Scenario scenario, Scenario.PolicyCheck it) {
    String found = "ACCEPT";
    String code = "none";
    try {
      var unused = Policies.with(scenario.policy());
    } catch (PolicyException e) {
      found = "REFUSE_TO_START";
      code = e.code();
    }
    if (!found.equals(it.expect())) {
      return Optional.of(StepOutput.differs("policy_check", it.expect(), found + " " + code));
    }
    return it.code() == null || it.code().equals(code)
        ? Optional.empty()
        : Optional.of(StepOutput.differs("code", it.code(), code));
  }
}
