package dev.ichido.examples;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.invocation.InvocationParameters;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;

/**
 * An AI service runs the tool and then asks the model again. When that second question fails, the
 * whole call fails, and whoever calls again makes the model ask for the tool again, under a call id
 * that is new. So the id of the call is no identity here: the turn of the conversation is.
 */
public final class LangChain4jExample {
  public static void main(String[] args) {
    cancel(Act::direct, "langchain4j/turn-again/without");
    cancel(Act::once, "langchain4j/turn-again/with");
  }

  interface Desk {
    String chat(@dev.langchain4j.service.UserMessage String text, InvocationParameters turn);
  }

  record Tools(Act act) {
    @Tool("Pays an order back.")
    String refund(@P("the order") String order, InvocationParameters turn) {
      // An order is paid back once in a turn; a tool that may act twice in it counts its calls.
      String key = Act.keyOf(turn.get("turn"), "refund", order);
      return act.call("refund", key, "{\"order\":\"%s\"}".formatted(order));
    }
  }

  private static void cancel(Act act, String order) {
    Desk desk =
        AiServices.builder(Desk.class).chatModel(new Script(order)).tools(new Tools(act)).build();
    // Named before the first try, and kept with the message of the user.
    String turn = "chat-%s-turn-1".formatted(order);
    for (int attempt = 1; ; attempt++) {
      try {
        desk.chat("Cancel " + order + ", please.", InvocationParameters.from("turn", turn));
        return;
      } catch (IllegalStateException e) {
        if (attempt == 2) {
          throw e;
        }
      }
    }
  }

  /** Calls the tool, is overloaded once when it is told the result, and then is done. */
  private static final class Script implements ChatModel {
    private final String order;
    private int calls;
    private boolean failed;

    private Script(String order) {
      this.order = order;
    }

    @Override
    public ChatResponse doChat(ChatRequest request) {
      if (request.messages().get(request.messages().size() - 1) instanceof UserMessage) {
        ToolExecutionRequest refund =
            ToolExecutionRequest.builder()
                .id("call_" + ++calls)
                .name("refund")
                .arguments("{\"order\":\"%s\"}".formatted(order))
                .build();
        return ChatResponse.builder().aiMessage(AiMessage.from(refund)).build();
      }
      if (!failed) {
        failed = true;
        throw new IllegalStateException("529 overloaded");
      }
      return ChatResponse.builder().aiMessage(AiMessage.from("Done.")).build();
    }
  }
}
