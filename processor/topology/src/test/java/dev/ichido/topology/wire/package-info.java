/** Tests. */
@NullMarked
package dev.ichido.topology.wire;

import org.jspecify.annotations.NullMarked;
