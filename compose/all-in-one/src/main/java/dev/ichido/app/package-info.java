/** The launcher and the command line. */
@NullMarked
package dev.ichido.app;

import org.jspecify.annotations.NullMarked;
