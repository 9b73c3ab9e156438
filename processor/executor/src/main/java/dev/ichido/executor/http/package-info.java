/** Remotes that are reached by HTTP, described by data. */
@NullMarked
package dev.ichido.executor.http;

import org.jspecify.annotations.NullMarked;
