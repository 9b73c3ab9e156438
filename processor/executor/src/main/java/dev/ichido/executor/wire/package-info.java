/** Between Avro records and the executor's own words; Avro stops here. */
@NullMarked
package dev.ichido.executor.wire;

import org.jspecify.annotations.NullMarked;
