/** The all-in-one: embedded servers and every role in one process, or one role alone. */
@NullMarked
package dev.ichido.app;

import org.jspecify.annotations.NullMarked;
