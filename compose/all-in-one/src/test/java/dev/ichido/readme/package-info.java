/** Runs what the README tells a newcomer to run. */
@NullMarked
package dev.ichido.readme;

import org.jspecify.annotations.NullMarked;
