/** Between Avro and the domain. Avro stops here. */
@NullMarked
package dev.ichido.topology.wire;

import org.jspecify.annotations.NullMarked;
