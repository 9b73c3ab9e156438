/** Performs commands against remotes, each attempt under a claim row. */
@NullMarked
package dev.ichido.executor;

import org.jspecify.annotations.NullMarked;
