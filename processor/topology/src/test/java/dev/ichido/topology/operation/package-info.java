/** Tests. */
@NullMarked
package dev.ichido.topology.operation;

import org.jspecify.annotations.NullMarked;
