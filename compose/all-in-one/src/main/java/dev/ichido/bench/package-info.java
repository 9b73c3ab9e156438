/** Measures the whole path on the embedded stack, and a plain table beside it. */
@NullMarked
package dev.ichido.bench;

import org.jspecify.annotations.NullMarked;
