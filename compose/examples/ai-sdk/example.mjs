// The AI SDK runs an approved tool when the approval comes in with the messages. A chat that sends the same messages
// again, after a lost answer or a second press of the button, runs it again.
import { generateText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { compare, keyOf } from "../shared/ichido.mjs";

const usage = { inputTokens: {}, outputTokens: {} };

/** Calls the tool first and is done when it has a result. */
const model = (order) =>
  new MockLanguageModelV3({
    doGenerate: async ({ prompt }) =>
      prompt.at(-1).role === "tool"
        ? { content: [{ type: "text", text: "Done." }], finishReason: { unified: "stop" }, usage, warnings: [] }
        : {
            content: [{ type: "tool-call", toolCallId: "call_1", toolName: "refund", input: JSON.stringify({ order }) }],
            finishReason: { unified: "tool-calls" },
            usage,
            warnings: [],
          },
  });

await compare("ai-sdk", {
  "request-again": async (act, order) => {
    // What the chat's route does; the chat's id comes with each of its requests.
    const route = (chatId, messages) =>
      generateText({
        model: model(order),
        messages,
        tools: {
          refund: tool({
            description: "Pays an order back.",
            inputSchema: z.object({ order: z.string() }),
            needsApproval: true,
            execute: (args, { toolCallId }) => act("refund", keyOf(chatId, toolCallId), args),
          }),
        },
      });

    const chatId = `chat-${order}`;
    const messages = [{ role: "user", content: `Cancel ${order}, please.` }];
    const asked = await route(chatId, messages);
    messages.push(...asked.response.messages);
    messages.push({
      role: "tool",
      content: asked.content
        .filter((part) => part.type === "tool-approval-request")
        .map(({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved: true })),
    });
    await route(chatId, messages);
    await route(chatId, messages);
  },
});
