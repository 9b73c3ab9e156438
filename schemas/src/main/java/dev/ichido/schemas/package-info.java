/** The contract: records, topics and what their values look like on the wire. */
@NullMarked
package dev.ichido.schemas;

import org.jspecify.annotations.NullMarked;
