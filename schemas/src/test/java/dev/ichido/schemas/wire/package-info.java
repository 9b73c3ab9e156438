@NullMarked
package dev.ichido.schemas.wire;

import org.jspecify.annotations.NullMarked;
