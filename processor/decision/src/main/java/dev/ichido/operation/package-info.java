/** Names and values of an operation. */
@NullMarked
package dev.ichido.operation;

import org.jspecify.annotations.NullMarked;
