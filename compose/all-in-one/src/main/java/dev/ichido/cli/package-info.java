/** Commands: what is typed, what is printed, and how the process ends. */
@NullMarked
package dev.ichido.cli;

import org.jspecify.annotations.NullMarked;
