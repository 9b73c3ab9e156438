/** Records as bytes: Confluent's wire format and registry, with any serializer class behind it. */
@NullMarked
package dev.ichido.schemas.wire;

import org.jspecify.annotations.NullMarked;
