package dev.ichido.app;

import dev.ichido.executor.mcp.McpServer;
import dev.ichido.gateway.McpConfig;
import java.time.Duration;

/**
 * One tool server behind the MCP door.
 *
 * @param name of the server in the policy, and what its actions' names begin with
 * @param principal of the clients, where no credential says another
 * @param window of {@link McpConfig.Unidentified#LINEAGE_WINDOW}
 * @param answerWithin how long a call is held before it is answered that it goes on
 */
public record McpSettings(
    String name,
    McpServer server,
    String tenant,
    String principal,
    McpConfig.Unidentified unidentified,
    Duration window,
    Duration answerWithin) {}
