package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Processor time and memory of process trees, from Linux's {@code /proc}; elsewhere both are zero.
 */
final class Processes {
  /** The kernel reports in ticks of 10 ms on every platform that Java runs on. */
  private static final double TICKS = 100;

  private Processes() {}

  /**
   * Seconds of user and system time of this process and of these trees, ended children included.
   */
  static double cpuSeconds(Iterable<Long> roots) {
    double seconds = 0;
    for (long pid : tree(roots)) {
      seconds += seconds(read(pid, "stat"), pid != ProcessHandle.current().pid());
    }
    return seconds;
  }

  /** Seconds of user and system time in the kernel's {@code stat} of a process or thread. */
  static double ownSeconds(String stat) {
    return seconds(stat, false);
  }

  private static double seconds(String stat, boolean endedChildren) {
    int name = stat.lastIndexOf(')');
    if (name < 0) {
      return 0;
    }
    String[] fields = stat.substring(name + 2).split(" ", -1);
    double ticks = 0;
    for (int i = 11; i <= (endedChildren ? 14 : 12); i++) {
      ticks += Long.parseLong(fields[i]);
    }
    return ticks / TICKS;
  }

  /** Megabytes of this process and of these trees; shared pages count once. */
  static double memoryMb(Iterable<Long> roots) {
    long kilobytes = 0;
    for (long pid : tree(roots)) {
      for (String line : read(pid, "smaps_rollup").split("\n", -1)) {
        if (line.startsWith("Pss:")) {
          kilobytes += Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
      }
    }
    return kilobytes / 1024.0;
  }

  private static List<Long> tree(Iterable<Long> roots) {
    List<Long> pids = new ArrayList<>();
    pids.add(ProcessHandle.current().pid());
    for (long root : roots) {
      pids.add(root);
      ProcessHandle.of(root).stream()
          .flatMap(ProcessHandle::descendants)
          .forEach(child -> pids.add(child.pid()));
    }
    return pids;
  }

  private static String read(long pid, String file) {
    try {
      return Files.readString(Path.of("/proc", String.valueOf(pid), file), US_ASCII);
    } catch (IOException ended) {
      return "";
    }
  }
}
