/** Tests. */
@NullMarked
package dev.ichido.topology.store;

import org.jspecify.annotations.NullMarked;
