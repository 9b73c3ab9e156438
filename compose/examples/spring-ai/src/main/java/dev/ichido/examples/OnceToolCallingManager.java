package dev.ichido.examples;

import java.util.ArrayList;
import java.util.List;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.model.tool.ToolCallingManager;
import org.springframework.ai.model.tool.ToolExecutionResult;
import org.springframework.ai.tool.definition.ToolDefinition;

/**
 * Tells each tool, in its context, the key of the call that it serves: a tool of Spring AI is given
 * the arguments alone and can't see the id of the call.
 */
record OnceToolCallingManager(ToolCallingManager inner) implements ToolCallingManager {
  static final String CONVERSATION = "conversation";
  static final String KEY = "key";

  @Override
  public ToolExecutionResult executeToolCalls(Prompt prompt, ChatResponse response) {
    ToolCallingChatOptions options = (ToolCallingChatOptions) prompt.getOptions();
    String conversation = (String) options.getToolContext().get(CONVERSATION);
    AssistantMessage asked = response.getResult().getOutput();
    List<ToolResponseMessage.ToolResponse> responses = new ArrayList<>();
    boolean direct = true;
    for (AssistantMessage.ToolCall call : asked.getToolCalls()) {
      String key = Act.keyOf(conversation, response.getMetadata().getId(), call.id());
      ToolExecutionResult result =
          inner.executeToolCalls(
              new Prompt(prompt.getInstructions(), options.mutate().toolContext(KEY, key).build()),
              new ChatResponse(
                  List.of(new Generation(asked.mutate().toolCalls(List.of(call)).build()))));
      List<Message> history = result.conversationHistory();
      responses.addAll(((ToolResponseMessage) history.get(history.size() - 1)).getResponses());
      direct &= result.returnDirect();
    }
    List<Message> history = new ArrayList<>(prompt.getInstructions());
    history.add(asked);
    history.add(ToolResponseMessage.builder().responses(responses).build());
    return ToolExecutionResult.builder().conversationHistory(history).returnDirect(direct).build();
  }

  @Override
  public List<ToolDefinition> resolveToolDefinitions(ToolCallingChatOptions options) {
    return inner.resolveToolDefinitions(options);
  }
}
