// LangGraph keeps what a node returned, not what it did on the way. A retry of the node, or the answer to an
// interrupt inside of it, runs all of its tool calls again, also those that had succeeded.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { tool } from "@langchain/core/tools";
import { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import { compare, keyOf } from "../shared/ichido.mjs";

const schema = z.object({ order: z.string() });

/** Thread, message and call: all three are in the checkpoint, so they are the same whenever the node runs again. */
function keyFor(runtime) {
  const asked = runtime.state.messages.findLast(AIMessage.isInstance);
  return keyOf(runtime.configurable.thread_id, asked.id, runtime.toolCallId);
}

function agent(tools, order, retryPolicy) {
  const model = fakeModel()
    .respond(
      new AIMessage({
        id: "msg-1",
        content: "",
        tool_calls: tools.map((it, i) => ({ name: it.name, args: { order }, id: `call_${i}` })),
      }),
    )
    .respond(new AIMessage({ id: "msg-2", content: "Done." }));
  return new StateGraph(MessagesAnnotation)
    .addNode("model", async ({ messages }) => ({ messages: await model.invoke(messages) }))
    .addNode("tools", new ToolNode(tools, { handleToolErrors: false }), { retryPolicy })
    .addEdge(START, "model")
    .addConditionalEdges("model", toolsCondition, ["tools", END])
    .addEdge("tools", "model")
    .compile({ checkpointer: new MemorySaver() });
}

const start = (order) => ({ messages: [new HumanMessage(`Cancel ${order}, please.`)] });
const thread = (order) => ({ configurable: { thread_id: `thread-${order}` } });

const sendMail = (act) =>
  tool(async (args, runtime) => JSON.stringify(await act("send_mail", keyFor(runtime), args)), { name: "send_mail", schema });

await compare("langgraph-js", {
  /** The second tool fails once; the mail had gone. */
  "node-retry": async (act, order) => {
    let failures = 1;
    const lookUp = tool(
      async () => {
        if (failures-- > 0) throw new Error("the stock system is busy");
        return "in stock";
      },
      { name: "look_up", schema },
    );
    await agent([sendMail(act), lookUp], order, { maxAttempts: 2, initialInterval: 100 }).invoke(start(order), thread(order));
  },

  /** The second tool asks a person; the mail had gone. */
  interrupt: async (act, order) => {
    const refund = tool(
      async (args, runtime) => {
        if (!interrupt("May I pay it back?")) return "refused";
        return JSON.stringify(await act("refund", keyFor(runtime), args));
      },
      { name: "refund", schema },
    );
    const graph = agent([sendMail(act), refund], order);
    await graph.invoke(start(order), thread(order));
    await graph.invoke(new Command({ resume: true }), thread(order));
  },
});
