package dev.ichido.cli;

import dev.ichido.config.IchidoConfig;
import dev.ichido.replay.Capture;
import dev.ichido.replay.CaptureFile;
import dev.ichido.replay.EffectCount;
import dev.ichido.replay.Foresight;
import dev.ichido.replay.Recorded;
import dev.ichido.replay.ReplayReport;
import dev.ichido.replay.ReplayRun;
import dev.ichido.replay.Selection;
import dev.ichido.replay.TimeShift;
import dev.ichido.schemas.wire.RecordSerdes;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "replay",
    mixinStandardHelpOptions = true,
    description = {
      "Sends a range of a topic again into the running system, as a redelivery or an operator"
          + " would, and counts what that led to: new commands, effects added and replies that"
          + " differ must all be 0.",
      "The records bear a mark that all they lead to carries, so the metrics count them apart."
    })
final class ReplayCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private final DatabaseAccess access = new DatabaseAccess();
  @Mixin private SelectionOptions selection = new SelectionOptions();

  @Option(
      names = "--file",
      paramLabel = "FILE",
      description = "Send what ichido capture wrote, rather than what the topics hold.")
  private @Nullable Path file;

  @Option(
      names = "--shift-to-now",
      description = {
        "With --file: as if the newest record had been taken in now and all others before it at"
            + " their distance, so that an incident of long ago is not refused as LATE_REPLAY."
            + " Issue times, deadlines and times of reports move; ids and arguments stay.",
        "Operations that the target has forgotten run: it must be another cluster than that of the"
            + " capture, and its executors must not call the same remotes."
      })
  private boolean shiftToNow;

  @Option(
      names = "--times",
      paramLabel = "N",
      defaultValue = "1",
      description = "How often to send each. Default: ${DEFAULT-VALUE}.")
  private int times = 1;

  @Option(
      names = "--rate",
      paramLabel = "N",
      defaultValue = "0",
      description = "Most records a second. Default: as fast as it goes.")
  private int rate;

  @Option(names = "--shuffle", description = "In another order than that of the broker.")
  private boolean shuffle;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Of the order of --shuffle. Default: ${DEFAULT-VALUE}.")
  private long seed = 1;

  @Option(
      names = "--book",
      paramLabel = "URL",
      description =
          "The remote's own list of its effects: a URL that answers {\"count\": N}, or a file with"
              + " a line for each. Without it the executor's claims are counted.")
  private @Nullable String book;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "How long all of it may take to be taken in. Default: ${DEFAULT-VALUE}.")
  private int wait = 60;

  @Option(
      names = "--dry-run",
      description = "Send nothing; say which operations would run again, and why.")
  private boolean dryRun;

  @Option(
      names = "--expect-no-effects",
      description =
          "Exit code 1 when there is a new command, an effect, a reply that differs, a refusal that"
              + " is new, or a delivery whose replies can't be compared.")
  private boolean expectNoEffects;

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException, SQLException {
    Output output = Output.of(spec);
    check();
    Selection wanted = selection.toSelection();
    try (access) {
      TopicAccess topics = access.topics();
      List<Recorded> records =
          file == null ? ReplayRun.read(topics, wanted) : captured(file, topics, wanted);
      if (records.isEmpty()) {
        throw CommandException.failed(
            "NOTHING_SELECTED",
            "Expected records in the range, but there are none. Check --topic and what narrows it.",
            null);
      }
      output.progress(records.size() + " records selected");
      Optional<DataSource> claims =
          access.find((IchidoConfig c) -> c.executor().database(), "ichido.claim");
      return dryRun
          ? foresee(output, topics, records, claims)
          : send(output, topics, records, claims);
    }
  }

  private List<Recorded> captured(Path from, TopicAccess topics, Selection wanted)
      throws InterruptedException {
    RecordSerdes serdes = RecordSerdes.from(topics.registry());
    Capture capture = new CaptureFile(serdes).read(from, wanted, topics.topics());
    if (!shiftToNow) {
      return capture.records();
    }
    if (capture.cluster().isEmpty() || capture.cluster().get().equals(topics.clusterId())) {
      throw CommandException.usage(
          "SHIFT_INTO_THE_SAME_SYSTEM",
          "Expected --shift-to-now with a capture of another cluster, but "
              + (capture.cluster().isEmpty()
                  ? "the file does not say where it is from"
                  : "it is from this one")
              + ". What this system has forgotten would run again. Check --data or --config, or"
              + " capture again. Nothing was sent.");
    }
    return new TimeShift(serdes, topics.topics())
        .newestAt(Clock.systemUTC().instant(), capture.records());
  }

  private int send(
      Output output, TopicAccess topics, List<Recorded> records, Optional<DataSource> claims)
      throws InterruptedException, SQLException {
    Optional<EffectCount> effects =
        Optional.ofNullable(book).map(EffectCount::book).or(() -> claims.map(EffectCount::claims));
    ReplayReport report =
        new ReplayRun(topics, effects)
            .send(
                records,
                new ReplayRun.Manner(times, rate, shuffle ? seed : null, Duration.ofSeconds(wait)));
    if (json) {
      output.document(report.toJson());
    } else {
      output.text(report.toText());
    }
    if (!report.finished()) {
      output.progress("not all was taken in within " + wait + " s; check that every role runs");
      return ExitCode.DOES_NOT_HOLD;
    }
    return expectNoEffects && !report.isWithoutEffect() ? ExitCode.DOES_NOT_HOLD : ExitCode.HOLDS;
  }

  private int foresee(
      Output output, TopicAccess topics, List<Recorded> records, Optional<DataSource> claims) {
    Foresight.Report report = new Foresight(topics, access.processorConfig(), claims).of(records);
    if (json) {
      output.document(report.toJson());
    } else {
      output.text(report.toText());
    }
    return expectNoEffects && !report.wouldRun().isEmpty()
        ? ExitCode.DOES_NOT_HOLD
        : ExitCode.HOLDS;
  }

  private void check() {
    if (times < 1 || rate < 0 || wait < 0) {
      throw CommandException.usage(
          "NUMBER",
          "Expected --times of 1 or more, and --rate and --wait of 0 or more, but one is less."
              + " Nothing was sent.");
    }
    if (file == null && shiftToNow) {
      throw CommandException.usage(
          "SHIFT_WITHOUT_A_FILE",
          "Expected --shift-to-now with --file, but the records are this system's own. What it has"
              + " forgotten would run again. Capture them, and replay the file into another system."
              + " Nothing was sent.");
    }
    if (file != null && selection.namesPositions()) {
      throw CommandException.usage(
          "POSITIONS_OF_A_FILE",
          "Expected no --partition and no offsets with --file, which keeps none, but there are"
              + " some. Narrow it by time, tenant or operation. Nothing was sent.");
    }
  }
}
