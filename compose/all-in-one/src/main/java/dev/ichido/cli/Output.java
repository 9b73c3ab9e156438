package dev.ichido.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;
import picocli.CommandLine.Model.CommandSpec;

/** Results on standard output, everything else on standard error. */
record Output(PrintWriter out, PrintWriter err) {
  static Output of(CommandSpec spec) {
    return new Output(spec.commandLine().getOut(), spec.commandLine().getErr());
  }

  /** One line of progress. */
  void progress(String line) {
    err.println("ichido: " + line);
  }

  /** The one document of {@code --json}. */
  void document(JsonNode document) {
    out.println(document.toPrettyString());
  }

  void text(String text) {
    out.print(text);
    out.flush();
  }
}
