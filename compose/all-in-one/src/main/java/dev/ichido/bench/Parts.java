package dev.ichido.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * Processor time of the stack by its parts: threads of this process by their names, processes of
 * the database by whom they serve. What ended meanwhile is not counted.
 */
final class Parts {
  /** The first that is found in a thread's name. */
  private static final Map<String, Pattern> BY_THREAD = new LinkedHashMap<>();

  static {
    BY_THREAD.put("caller", Pattern.compile("ichido-bench|^main$|ichido-runtime"));
    BY_THREAD.put("relay", Pattern.compile("relay|debezium|pool-\\d+-thread"));
    BY_THREAD.put("processor", Pattern.compile("StreamThread|ichido-processor|StateUpdater"));
    BY_THREAD.put(
        "executor", Pattern.compile("executor|HttpClient|ForkJoinPool|VirtualThread|Poller"));
    BY_THREAD.put("inbox", Pattern.compile("ichido-inbox|inbox-"));
    BY_THREAD.put("gateway", Pattern.compile("gateway"));
    BY_THREAD.put(
        "broker",
        Pattern.compile(
            "data-plane|coordinator-event|TxnSender|TxnMarker|kafka-\\d|controller|Reaper|kafka-scheduler"
                + "|broker-|LogCleaner|metadata|forwarding|SessionExpiry"));
  }

  private final Map<Object, Double> threads = new HashMap<>();
  private final Map<Object, String> parts = new HashMap<>();

  private Parts() {}

  /** As it stands, in seconds since each thread and process began. */
  static Parts now(DataSource database) throws SQLException {
    Parts now = new Parts();
    now.javaThreads();
    now.virtualMachine();
    now.database(database);
    return now;
  }

  /** Seconds since an earlier look, by part. */
  Map<String, Double> since(Parts before) {
    Map<String, Double> spent = new TreeMap<>();
    threads.forEach(
        (thread, seconds) ->
            spent.merge(
                parts.getOrDefault(thread, "other"),
                seconds - before.threads.getOrDefault(thread, 0.0),
                Double::sum));
    return spent;
  }

  private void add(Object thread, String part, double seconds) {
    threads.put(thread, seconds);
    parts.put(thread, part);
  }

  private void javaThreads() {
    ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    long[] ids = bean.getAllThreadIds();
    for (ThreadInfo info : bean.getThreadInfo(ids)) {
      if (info != null) {
        long nanos = bean.getThreadCpuTime(info.getThreadId());
        add(info.getThreadId(), part(info.getThreadName()), Math.max(0, nanos) / 1e9);
      }
    }
  }

  static String part(String thread) {
    return BY_THREAD.entrySet().stream()
        .filter(entry -> entry.getValue().matcher(thread).find())
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse("other");
  }

  /** The machine's own threads are no Java threads; the kernel knows them by their names. */
  private void virtualMachine() {
    for (Path task : tasks()) {
      String stat = text(task.resolve("stat"));
      String name = text(task.resolve("comm")).strip();
      if (name.startsWith("C1 Comp") || name.startsWith("C2 Comp")) {
        add(task, "compilers", Processes.ownSeconds(stat));
      } else if (name.startsWith("VM Thread") || name.startsWith("GC ") || name.startsWith("G1 ")) {
        add(task, "collector", Processes.ownSeconds(stat));
      }
    }
  }

  private static List<Path> tasks() {
    List<Path> tasks = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
      found.forEach(tasks::add);
    } catch (IOException elsewhere) {
      // Not on Linux.
    }
    return tasks;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, UTF_8);
    } catch (IOException ended) {
      return "";
    }
  }

  private void database(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        PreparedStatement statement =
            connection.prepareStatement(
                "select pid, case backend_type when 'client backend' then application_name else"
                    + " backend_type end from pg_stat_activity");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        long pid = rows.getLong(1);
        add(
            "database " + pid,
            "database: " + rows.getString(2),
            Processes.ownSeconds(text(Path.of("/proc", String.valueOf(pid), "stat"))));
      }
    }
  }
}
