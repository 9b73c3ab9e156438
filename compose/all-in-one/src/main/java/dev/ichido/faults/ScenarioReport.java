package dev.ichido.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One scenario: in one round, or in all of them.
 *
 * @param operations distinct operations that were published
 * @param effects in the remotes' books
 * @param unknown operations whose outcome is unknown at the end
 * @param unanswered deliveries without a last reply
 * @param verdicts how often each was told
 * @param schedule what the seed chose
 * @param done what was done
 * @param findings what does not hold
 */
record ScenarioReport(
    Scenario scenario,
    int rounds,
    long operations,
    long deliveries,
    EffectCount effects,
    long unknown,
    long unanswered,
    Metrics metrics,
    Map<String, Integer> verdicts,
    List<String> schedule,
    List<String> done,
    List<String> findings,
    double seconds) {
  /** What the finding of second effects ends with; it is all that is known of a known limit. */
  static final String DUPLICATES = " duplicate effects";

  boolean pass() {
    return findings.isEmpty();
  }

  /** Whether it holds, or is a known limit that shows one second effect each and nothing else. */
  boolean isAsKnown() {
    return scenario.group() == Scenario.Group.LIMITS
        ? findings.stream().allMatch(it -> it.endsWith(DUPLICATES))
            && effects.duplicates() == effects.more()
        : pass();
  }

  /** What it says when the remotes' books changed after it was made. */
  ScenarioReport recounted(EffectCount now) {
    List<String> more = new ArrayList<>(findings);
    more.add(
        "%d effects came after the scenario was judged; now %d are duplicates"
            .formatted(now.all() - effects.all(), now.duplicates()));
    return new ScenarioReport(
        scenario,
        rounds,
        operations,
        deliveries,
        now,
        unknown,
        unanswered,
        metrics.withDuplicates(now.duplicates()),
        verdicts,
        schedule,
        done,
        List.copyOf(more),
        seconds);
  }

  /** Nothing can be said of it but why. */
  static ScenarioReport unjudged(Scenario scenario, int round, List<String> findings) {
    return new ScenarioReport(
        scenario,
        round,
        0,
        0,
        EffectCount.NOTHING,
        0,
        0,
        Metrics.NONE,
        Map.of(),
        List.of(),
        List.of(),
        findings,
        0);
  }

  /**
   * The same scenario over all rounds. Schedule and deeds are those of the first round that does
   * not hold, which is named, or of the first.
   */
  static ScenarioReport sum(List<ScenarioReport> rounds) {
    ScenarioReport first = rounds.getFirst();
    ScenarioReport told = rounds.stream().filter(it -> !it.pass()).findFirst().orElse(first);
    String of = told.pass() ? "" : "round " + told.rounds() + ": ";
    Map<String, Integer> verdicts = new TreeMap<>();
    Metrics metrics = Metrics.NONE;
    for (ScenarioReport round : rounds) {
      round.verdicts().forEach((verdict, count) -> verdicts.merge(verdict, count, Integer::sum));
      metrics = metrics.plus(round.metrics());
    }
    return new ScenarioReport(
        first.scenario(),
        rounds.size(),
        rounds.stream().mapToLong(ScenarioReport::operations).sum(),
        rounds.stream().mapToLong(ScenarioReport::deliveries).sum(),
        rounds.stream().map(ScenarioReport::effects).reduce(EffectCount.NOTHING, EffectCount::plus),
        rounds.stream().mapToLong(ScenarioReport::unknown).sum(),
        rounds.stream().mapToLong(ScenarioReport::unanswered).sum(),
        metrics,
        verdicts,
        told.schedule().stream().map(of::concat).toList(),
        told.done().stream().map(of::concat).toList(),
        rounds.stream()
            .flatMap(
                round -> round.findings().stream().map(it -> "round " + round.rounds() + ": " + it))
            .toList(),
        rounds.stream().mapToDouble(ScenarioReport::seconds).sum());
  }
}
