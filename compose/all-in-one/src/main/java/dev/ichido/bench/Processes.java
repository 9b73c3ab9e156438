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
    double ticks = 0;
    for (long pid : tree(roots)) {
      String stat = read(pid, "stat");
      int name = stat.lastIndexOf(')');
      if (name > 0) {
        String[] fields = stat.substring(name + 2).split(" ", -1);
        for (int i = 11; i <= (pid == ProcessHandle.current().pid() ? 12 : 14); i++) {
          ticks += Long.parseLong(fields[i]);
        }
      }
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
