package dev.ichido.demo;

import dev.ichido.cli.CommandException;
import dev.ichido.outbox.Lineage;
import dev.ichido.outbox.OperationIds;
import dev.ichido.outbox.TenantKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the demo will do, settled before anything is started: the calls in the order of their runs,
 * each write with the id of its operation.
 *
 * @param lanes the calls of one agent run, in order; runs are independent of each other
 */
record DemoPlan(List<List<Planned>> lanes) {
  static final String TENANT = "demo";
  static final String PRINCIPAL = "agent:demo";

  /**
   * One call.
   *
   * @param operationId null for a read
   */
  record Planned(ToolCall call, String tenant, @Nullable String operationId) {
    boolean isWrite() {
      return operationId != null;
    }

    EffectBook.Operation operation() {
      return new EffectBook.Operation(tenant, operationId == null ? "" : operationId);
    }
  }

  /**
   * Plans all calls.
   *
   * @param source what to call the input in messages
   * @param keys key of a tenant, under which ids are derived
   * @throws CommandException INPUT_IDENTITY for a write that nothing tells from another
   */
  static DemoPlan of(
      String source, List<ToolCall> calls, String run, Function<String, TenantKey> keys) {
    Map<String, List<Planned>> lanes = new LinkedHashMap<>();
    for (ToolCall call : calls) {
      String tenant = call.tenant() == null ? TENANT : call.tenant();
      String operationId =
          call.isWrite() ? operationId(source, call, run, keys.apply(tenant)) : null;
      lanes
          .computeIfAbsent(String.valueOf(call.run()), none -> new ArrayList<>())
          .add(new Planned(call, tenant, operationId));
    }
    return new DemoPlan(lanes.values().stream().map(List::copyOf).toList());
  }

  List<Planned> all() {
    return lanes.stream().flatMap(Collection::stream).toList();
  }

  private static String operationId(String source, ToolCall call, String run, TenantKey key) {
    if (call.operationId() != null) {
      return call.operationId();
    }
    if (call.run() == null || call.step() == null || call.toolCallId() == null) {
      throw CommandException.usage(
          "INPUT_IDENTITY",
          "Expected an operation_id, or run, step and tool_call_id, for the write in line "
              + call.line()
              + " of "
              + source
              + ", but "
              + missing(call)
              + " is missing. Add it: a call id alone is not the same over a retry. Nothing was sent.");
    }
    return OperationIds.fromLineage(
        key, new Lineage(run, call.run(), call.step(), call.toolCallId(), 0));
  }

  private static String missing(ToolCall call) {
    return call.run() == null ? "run" : call.step() == null ? "step" : "tool_call_id";
  }
}
