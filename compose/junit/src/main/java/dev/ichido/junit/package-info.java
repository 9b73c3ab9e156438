/** The embedded stack as an extension of JUnit 5. */
@NullMarked
package dev.ichido.junit;

import org.jspecify.annotations.NullMarked;
