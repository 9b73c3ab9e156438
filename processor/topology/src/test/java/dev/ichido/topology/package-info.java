/** Tests. */
@NullMarked
package dev.ichido.topology;

import org.jspecify.annotations.NullMarked;
