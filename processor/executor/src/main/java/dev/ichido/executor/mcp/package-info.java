/** Performs actions as tools of an MCP server. */
@NullMarked
package dev.ichido.executor.mcp;

import org.jspecify.annotations.NullMarked;
