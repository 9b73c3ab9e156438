@NullMarked
package dev.ichido.schemas;

import org.jspecify.annotations.NullMarked;
