package dev.ichido.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/** A command that was run in this process, and what it said. */
public record Ran(int code, String out, String err) {
  public static Ran of(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    return new Ran(code, out.toString(), err.toString());
  }
}
