package dev.ichido.demo;

import dev.ichido.app.Stack;
import dev.ichido.cli.CommandException;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.DataFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Clock;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The whole demo: input, plan, stack, run, count. */
public final class DemoStory {
  private DemoStory() {}

  /**
   * What is asked for.
   *
   * @param input null: the built-in sample
   * @param deliveries of each write
   * @param config tenants, actions and tuning; empty sections for none
   * @param strict whether tools that the configuration does not have are refused
   * @param repeat whether a finished run on the folder is repeated rather than followed by a new
   *     one
   */
  public record Wish(
      @Nullable Path input,
      int deliveries,
      IchidoConfig config,
      boolean strict,
      Path data,
      boolean repeat,
      Stack.Ports ports) {}

  /** Runs it. Nothing is started before the input is read and planned. */
  public static DemoReport tell(Wish wish, Consumer<String> progress)
      throws InterruptedException, SQLException {
    if (wish.deliveries() < 1 || wish.deliveries() > 100) {
      throw CommandException.usage(
          "DELIVERIES",
          "Expected 1 to 100 deliveries, but --deliveries has "
              + wish.deliveries()
              + ". Check it.");
    }
    Path file = wish.input();
    String source = file == null ? DemoSample.NAME : file.toString();
    List<ToolCall> calls = file == null ? DemoSample.read() : ToolCallReader.read(file);
    try (DataFolder folder = DataFolder.open(wish.data());
        DemoSetup setup = DemoSetup.open(folder)) {
      byte[] bytes = file == null ? DemoSample.bytes() : Files.readAllBytes(file);
      IchidoConfig config = setup.with(wish.config(), source, calls, wish.strict());
      DemoPlan.of(source, calls, "checked before a run begins", tenant -> setup.tenantKey());
      DemoRun run =
          DemoRun.resumeOrBegin(setup.folder(), bytes, wish.repeat(), Clock.systemUTC().instant());
      DemoPlan plan = DemoPlan.of(source, calls, run.name(), tenant -> setup.tenantKey());
      progress.accept(
          calls.size()
              + " calls, "
              + plan.all().stream().filter(DemoPlan.Planned::isWrite).count()
              + " of them writes, from "
              + source);
      progress.accept(
          run.begun()
              ? "a new run: operations of its own"
              : run.finished()
                  ? "a finished run is repeated: the same operations, so no new effects"
                  : "a run that was cut short goes on: the same operations");
      try (Stack stack = Stack.start(folder, wish.ports(), config, progress)) {
        DemoReport report =
            new Demo(stack, plan, run, setup.book(), wish.deliveries(), progress).run(calls.size());
        if (report.missingReplies() == 0) {
          run.finish(setup.folder());
        }
        return report;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
