/** Tests. */
@NullMarked
package dev.ichido.topology.policy;

import org.jspecify.annotations.NullMarked;
