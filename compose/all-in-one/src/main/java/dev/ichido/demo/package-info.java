/** The main job on real parts: tool calls, a remote that keeps its own book, and the count. */
@NullMarked
package dev.ichido.demo;

import org.jspecify.annotations.NullMarked;
