package dev.ichido.examples;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.metadata.ChatResponseMetadata;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.support.ToolCallbacks;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;
import org.springframework.core.retry.RetryException;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;

/**
 * The model asks for two tools at once, and the second fails. A retry around the step runs both
 * again: the answer of the model is kept, what its first tool did is not.
 */
public final class SpringAiExample {
  public static void main(String[] args) throws RetryException {
    cancel(Act::direct, "spring-ai/step-again/without");
    cancel(Act::once, "spring-ai/step-again/with");
  }

  record Tools(Act act, AtomicBoolean busy) {
    @Tool(name = "send_mail", description = "Tells the customer.")
    String sendMail(String order, ToolContext context) {
      String key = (String) context.getContext().get(OnceToolCallingManager.KEY);
      return act.call("send_mail", key, "{\"order\":\"%s\"}".formatted(order));
    }

    @Tool(name = "look_up", description = "Says whether it is in stock.")
    String lookUp(String order) {
      if (busy.getAndSet(false)) {
        throw new IllegalStateException("the stock system is busy");
      }
      return "in stock";
    }
  }

  private static void cancel(Act act, String order) throws RetryException {
    ToolCallingManager tools =
        new OnceToolCallingManager(
            ToolCallingManager.builder()
                .toolExecutionExceptionProcessor(new DefaultToolExecutionExceptionProcessor(true))
                .build());
    ToolCallingChatOptions options =
        ToolCallingChatOptions.builder()
            .toolCallbacks(ToolCallbacks.from(new Tools(act, new AtomicBoolean(true))))
            .toolContext(OnceToolCallingManager.CONVERSATION, "chat-" + order)
            .build();
    Prompt prompt = new Prompt(List.of(new UserMessage("Cancel " + order + ".")), options);
    ChatModel model = script(order);

    ChatResponse answer = model.call(prompt);
    while (answer.hasToolCalls()) {
      ChatResponse asked = answer;
      ToolExecutionResult done =
          new RetryTemplate(RetryPolicy.withMaxRetries(1))
              .execute(() -> tools.executeToolCalls(prompt, asked));
      answer = model.call(new Prompt(done.conversationHistory(), options));
    }
  }

  /** Asks for both tools first and is done when it has their results. */
  private static ChatModel script(String order) {
    String arguments = "{\"order\":\"%s\"}".formatted(order);
    AssistantMessage asks =
        AssistantMessage.builder()
            .content("")
            .toolCalls(
                List.of(
                    new ToolCall("call_1", "function", "send_mail", arguments),
                    new ToolCall("call_2", "function", "look_up", arguments)))
            .build();
    return prompt ->
        new ChatResponse(
            List.of(
                new Generation(
                    prompt.getInstructions().size() == 1 ? asks : new AssistantMessage("Done."))),
            ChatResponseMetadata.builder().id("resp-" + prompt.getInstructions().size()).build());
  }
}
