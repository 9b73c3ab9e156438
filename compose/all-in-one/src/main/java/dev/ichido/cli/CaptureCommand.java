package dev.ichido.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.ichido.replay.CaptureFile;
import dev.ichido.replay.Recorded;
import dev.ichido.replay.ReplayRun;
import dev.ichido.schemas.wire.RecordSerdes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "capture",
    mixinStandardHelpOptions = true,
    description = {
      "Writes a range of the topics into a file that ichido replay --file sends into another"
          + " system, such as an incident into a test bench. Changes nothing.",
      "The file holds arguments and results as they are: treat it like them."
    })
final class CaptureCommand implements Callable<Integer> {
  @Spec private CommandSpec spec = CommandSpec.create();
  @Mixin private final DatabaseAccess access = new DatabaseAccess();
  @Mixin private SelectionOptions selection = new SelectionOptions();

  @Option(names = "--out", required = true, paramLabel = "FILE", description = "What to write.")
  private Path out = Path.of("capture.jsonl");

  @Option(names = "--json", description = "Print one JSON document.")
  private boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Output output = Output.of(spec);
    Path folder = out.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder) || Files.isDirectory(out)) {
      throw CommandException.usage(
          "CAPTURE_FILE",
          "Expected a file in a folder that is there for --out, but it is none. Check the path.");
    }
    try (access) {
      TopicAccess topics = access.topics();
      List<Recorded> records = ReplayRun.read(topics, selection.toSelection());
      new CaptureFile(RecordSerdes.from(topics.registry()))
          .write(out, topics.clusterId(), records, topics.topics());
      if (json) {
        output.document(
            new JsonMapper()
                .createObjectNode()
                .put("captured", records.size())
                .put("file", out.toString()));
      } else {
        output.text("%d records in %s%n".formatted(records.size(), out));
      }
      return ExitCode.HOLDS;
    }
  }
}
