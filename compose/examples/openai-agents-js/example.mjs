// A RunState that waits for an approval is text that is kept somewhere. Whoever loads it can approve it: two tabs,
// two workers, one button that is pressed twice. Each of them runs the tool.
import { Agent, run, RunState, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { compare, keyOf } from "../shared/ichido.mjs";

setTracingDisabled(true);

/** Calls the tool first and is done when it has a result. */
const model = (order) => ({
  getResponse: async ({ input }) => ({
    usage: new Usage(),
    output: input.some((item) => item.type === "function_call_result")
      ? [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Done." }] }]
      : [{ type: "function_call", callId: "call_1", name: "refund", arguments: JSON.stringify({ order }), status: "completed" }],
  }),
});

await compare("openai-agents", {
  "approved-twice": async (act, order) => {
    const refund = tool({
      name: "refund",
      description: "Pays an order back.",
      parameters: z.object({ order: z.string() }),
      needsApproval: true,
      // The run's id is the application's own. It is in the context, which the RunState keeps.
      execute: (args, { context }, { toolCall }) => act("refund", keyOf(context.runId, toolCall.callId), args),
    });
    const agent = new Agent({ name: "desk", model: model(order), tools: [refund] });

    const asked = await run(agent, `Cancel ${order}, please.`, { context: { runId: `run-${order}` } });
    const kept = asked.state.toString();

    const approve = async () => {
      const state = await RunState.fromString(agent, kept);
      state.getInterruptions().forEach((item) => state.approve(item));
      await run(agent, state);
    };
    await approve();
    await approve();
  },
});
