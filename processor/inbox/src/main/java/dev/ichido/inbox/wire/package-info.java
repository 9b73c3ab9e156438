/** Between Avro records and the inbox's own words; Avro stops here. */
@NullMarked
package dev.ichido.inbox.wire;

import org.jspecify.annotations.NullMarked;
