package dev.ichido.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ichido.app.LoneRole.Kind;
import dev.ichido.cli.CommandException;
import dev.ichido.faults.Operation.Part;
import dev.ichido.faults.Scenario.Group;
import dev.ichido.remotes.Fault;
import dev.ichido.remotes.FaultKind;
import dev.ichido.remotes.RemoteKind;
import dev.ichido.topology.policy.LocatedTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The executor contracts of a user, bent towards a stand-in that answers as each contract expects
 * and keeps a book. Everything that judges answers stays as it was written; addresses are replaced
 * and times shortened.
 */
final class UserContract {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final JsonMapper JSON = new JsonMapper();
  private static final Pattern ARGUMENT = Pattern.compile("\\{arguments\\.([A-Za-z0-9_.]+)}");
  private static final Pattern STEP =
      Pattern.compile("\\.?([A-Za-z0-9_-]+)|\\[(\\d+)]|\\['([^']+)']");

  /** Faults of reads come after a lost answer; the others have a scenario of their own. */
  private static final Set<FaultKind> NOT_ALONE =
      Set.of(
          FaultKind.HOLD_BEFORE_COMMIT,
          FaultKind.CLEAN,
          FaultKind.REFUSE_CONNECTION,
          FaultKind.STATUS_UNAVAILABLE,
          FaultKind.LYING_404);

  private final Map<String, ObjectNode> actions = new LinkedHashMap<>();
  private final Map<String, String> arguments = new LinkedHashMap<>();

  /**
   * Reads the writing actions with an {@code http} member.
   *
   * @param sample arguments that the templates and the schema need; what is missing is made up
   * @throws CommandException CONTRACT_UNREADABLE, CONTRACT_EMPTY, ARGUMENTS_NOT_JSON
   */
  static UserContract read(Path file, String sample) {
    try {
      JsonNode root = LocatedTree.read(file.toString(), Files.readString(file)).root();
      JsonNode given = JSON.readTree(sample);
      UserContract contract = new UserContract();
      for (Map.Entry<String, JsonNode> action : root.path("actions").properties()) {
        if (action.getValue() instanceof ObjectNode members
            && members.path("http") instanceof ObjectNode
            && !members.path("effect").asText("write").equals("read")) {
          contract.add(action.getKey(), members.deepCopy(), given);
        }
      }
      if (contract.actions.isEmpty()) {
        throw CommandException.usage(
            "CONTRACT_EMPTY",
            "Expected a write with an http contract under actions of "
                + file
                + ", but there is none. Check the file.");
      }
      return contract;
    } catch (IOException e) {
      throw CommandException.usage(
          "CONTRACT_UNREADABLE",
          "Expected a policy file and arguments that can be read, but one can't. Check "
              + file
              + " and --arguments.",
          e);
    }
  }

  /** Lines for the rig's configuration; {@code LEGACY} stands for the stand-in's address. */
  String configuration() {
    StringBuilder lines = new StringBuilder();
    actions.forEach(
        (name, members) ->
            lines
                .append("  ")
                .append(NODES.textNode(name))
                .append(": ")
                .append(members)
                .append('\n'));
    return lines.toString();
  }

  /** Every fault of a remote for each action, a crash of the executor and concurrent duplicates. */
  List<Scenario> scenarios() {
    List<Scenario> all = new ArrayList<>();
    for (String action : actions.keySet()) {
      all.add(
          of(
              action,
              "clean",
              "two requests meet no fault",
              "one effect each, told as a success",
              act -> {
                for (int i = 0; i < 2; i++) {
                  Operation operation = operation(act, action);
                  act.expect(operation, 1, 1);
                  String state = act.awaitLast(act.deliver(operation)).state();
                  act.check(
                      "SUCCEEDED".equals(state), "without any fault an operation became " + state);
                }
              }));
      for (FaultKind kind : FaultKind.values()) {
        if (!NOT_ALONE.contains(kind)) {
          all.add(
              of(
                  action,
                  kind.label().replace('_', '-'),
                  "two requests meet " + kind.label(),
                  act -> {
                    for (int i = 0; i < 2; i++) {
                      deliver(act, action, Fault.of(kind));
                    }
                    act.settleOrLeave();
                  }));
        }
      }
      all.add(
          of(
              action,
              "status-unavailable",
              "an answer is lost, and three status reads fail",
              act -> {
                act.rig()
                    .remote(RemoteKind.LEGACY)
                    .add(Fault.of(FaultKind.STATUS_UNAVAILABLE).times(3));
                deliver(act, action, Fault.of(FaultKind.RESET_AFTER_COMMIT));
                act.settleOrLeave();
              }));
      all.add(
          of(
              action,
              "lying-404",
              "an answer is lost, and one status read says absent",
              act -> {
                act.rig().remote(RemoteKind.LEGACY).add(Fault.of(FaultKind.LYING_404));
                deliver(act, action, Fault.of(FaultKind.RESET_AFTER_COMMIT));
                act.settleOrLeave();
              }));
      all.add(
          of(
              action,
              "refuse-connection",
              "the remote refuses connections for two seconds",
              act -> {
                act.rig().remote(RemoteKind.LEGACY).wire().cut();
                deliver(act, action, Fault.CLEAN);
                Patience.pass(Duration.ofSeconds(2));
                act.rig().remote(RemoteKind.LEGACY).wire().open();
                act.settleOrLeave();
              }));
      all.add(
          of(
              action,
              "concurrent-duplicate",
              "five operations, each committed by four connections at the same moment",
              "one effect each, and nobody is told what is not so",
              act -> {
                for (int i = 0; i < 5; i++) {
                  Operation operation = operation(act, action);
                  act.expect(operation, 1, 1);
                  act.deliverTogether(operation, 4);
                }
                act.settleOrLeave();
              }));
      all.add(
          of(
              action,
              "crash-executor",
              "kill -9 of the executor with five effects done and no answer",
              act -> {
                List<Operation> operations = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                  operations.add(deliver(act, action, Fault.of(FaultKind.ACCEPT_THEN_TIMEOUT)));
                }
                for (Operation operation : operations) {
                  act.awaitEffects(act.rig().remote(RemoteKind.LEGACY), operation, 1);
                }
                act.rig().killAndStart(Kind.EXECUTOR);
                act.settleOrLeave();
              }));
    }
    return all;
  }

  private Scenario of(String action, String name, String does, Scenario.Body body) {
    return of(action, name, does, "at most one effect, and nobody is told what is not so", body);
  }

  private static Scenario of(
      String action, String name, String does, String expected, Scenario.Body body) {
    return new Scenario(
        action.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-") + "-" + name,
        Group.CONTRACT,
        List.of("FR-17"),
        does,
        expected,
        body);
  }

  private Operation deliver(Act act, String action, Fault fault) throws InterruptedException {
    Operation operation = operation(act, action);
    act.rig().remote(RemoteKind.LEGACY).add(fault.forBusinessKey(operation.business()));
    act.deliver(operation);
    return operation;
  }

  private Operation operation(Act act, String action) {
    Operation operation =
        act.operation(action)
            .with(Part.ARGUMENTS, arguments.getOrDefault(action, "{}"))
            .with(Part.TARGET, "target:1")
            .with(
                Part.SCOPE,
                switch (action(action).path("scope").asText("global")) {
                  case "region" -> "region:battery-1";
                  case "zone" -> "zone:battery-1";
                  default -> "global";
                });
    act.expect(operation, 0, 1);
    return operation;
  }

  private ObjectNode action(String name) {
    ObjectNode members = actions.get(name);
    if (members == null) {
      throw new IllegalArgumentException("Expected an action of the contract, but it was " + name);
    }
    return members;
  }

  private void add(String name, ObjectNode members, JsonNode sample) throws IOException {
    ObjectNode http = (ObjectNode) members.path("http");
    ObjectNode values =
        sample instanceof ObjectNode object ? object.deepCopy() : JSON.createObjectNode();
    Matcher places = ARGUMENT.matcher(http.toString());
    while (places.find()) {
      ObjectNode at = values;
      List<String> path = List.of(places.group(1).split("\\.", -1));
      for (String step : path.subList(0, path.size() - 1)) {
        at = at.path(step) instanceof ObjectNode inner ? inner : at.putObject(step);
      }
      if (!at.has(path.getLast())) {
        at.put(path.getLast(), "sample");
      }
    }
    arguments.put(name, values.toString());
    // Whose operation it is and who may is not what is tried here; secrets need not be at hand.
    members.remove(List.of("authorize"));
    members.put("lease", RigConfig.LEASE).put("retry_horizon", "1h");
    ObjectNode retry = members.withObject("/retry");
    retry.put("max_attempts", 9).put("initial", "200ms").put("max", "1s");
    retry.putObject("budget").put("tokens", 1_000).put("refill", "100/s");
    if (members.at("/remote/absent_after") instanceof ObjectNode absent) {
      absent.put("over", "1s");
    }
    bend(members, http);
    actions.put(
        name,
        (ObjectNode) JSON.readTree(members.toString().replaceAll("\\$\\{[a-z]+:[^}]*}", "secret")));
  }

  private static void bend(ObjectNode members, ObjectNode http) {
    http.put("remote", "contract").put("url", elsewhere(http.path("url").asText()));
    http.remove(List.of("hosts", "plain_http", "tls"));
    http.putObject("timeouts").put("connect", "2s").put("first_byte", "3s").put("total", "4s");
    ObjectNode headers = http.withObject("/headers");
    headers.put("X-Business-Key", "{operation_id}").put("X-Natural-Key", "{operation_id}");
    headers.put("X-Mirror-Status", String.valueOf(status(http.at("/answers/expected"), 200)));
    headers.put("X-Mirror-Body", body(http.path("reference")));
    if (http.has("reference_header")) {
      headers.put("X-Mirror-Reference-Header", http.path("reference_header").asText());
    }
    if (members.at("/remote/dedupes_on_key").asBoolean()) {
      headers.put("X-Mirror-Key", "{key}");
    }
    if (http.path("status") instanceof ObjectNode status) {
      status.put("url", elsewhere(status.path("url").asText()));
      boolean absentStatus = !status.path("absent").isEmpty();
      int expected = status(status.path("expected"), 200);
      status
          .withObject("/headers")
          .put("X-Natural-Key", "{operation_id}")
          .put("X-Mirror-Status", String.valueOf(expected))
          .put("X-Mirror-Body", body(status.path("found"), status.path("reference")))
          .put(
              "X-Mirror-Absent-Status",
              String.valueOf(absentStatus ? status(status.path("absent"), 404) : expected))
          .put("X-Mirror-Absent-Body", encoded("{}"));
    }
  }

  /** The same path at the stand-in; a read must not look like one of its own paths. */
  private static String elsewhere(String url) {
    return "LEGACY" + url.replaceFirst("^[a-z]+://[^/?]*", "").replaceFirst("^$", "/");
  }

  private static int status(JsonNode list, int otherwise) {
    if (list.isEmpty()) {
      return otherwise;
    }
    String first = list.path(0).asText();
    return Integer.parseInt(first.replace("xx", "00"));
  }

  /** A document that has a value at each of the paths, in Base64. */
  private static String body(JsonNode... paths) {
    JsonNode body = NODES.objectNode();
    for (JsonNode path : paths) {
      if (path.isTextual()) {
        List<String> steps = new ArrayList<>();
        Matcher matcher = STEP.matcher(path.asText().replaceFirst("^\\$", ""));
        while (matcher.find()) {
          steps.add(
              matcher.group(1) != null
                  ? matcher.group(1)
                  : matcher.group(2) != null ? "#" + matcher.group(2) : matcher.group(3));
        }
        body = put(body, steps, 0);
      }
    }
    return encoded(body.toString());
  }

  /** Braces would be places of a template. */
  private static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }

  private static JsonNode put(JsonNode node, List<String> steps, int depth) {
    if (depth == steps.size()) {
      return node.isContainerNode() && !node.isEmpty() ? node : NODES.textNode("@reference");
    }
    String step = steps.get(depth);
    if (step.startsWith("#")) {
      ArrayNode array = node instanceof ArrayNode known ? known : NODES.arrayNode();
      int index = Integer.parseInt(step.substring(1));
      while (array.size() <= index) {
        array.add(NODES.objectNode());
      }
      array.set(index, put(array.path(index), steps, depth + 1));
      return array;
    }
    ObjectNode object = node instanceof ObjectNode known ? known : NODES.objectNode();
    object.set(step, put(object.path(step), steps, depth + 1));
    return object;
  }
}
