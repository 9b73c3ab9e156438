package dev.ichido.bench;

import dev.ichido.app.Stack;
import java.nio.file.Path;
import java.util.Locale;

/** A way into the outbox for those who do not write it themselves. */
public enum Door {
  HTTP {
    @Override
    OncePath open(Stack stack, Path folder) {
      return new HttpPath(stack, folder);
    }
  },
  MCP {
    @Override
    OncePath open(Stack stack, Path folder) {
      return new McpPath(stack);
    }
  };

  /**
   * The whole path through this door.
   *
   * @param folder where the stack keeps its data
   */
  abstract OncePath open(Stack stack, Path folder);

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
