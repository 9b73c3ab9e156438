/** Claims and recorded results in PostgreSQL. */
@NullMarked
package dev.ichido.executor.claim;

import org.jspecify.annotations.NullMarked;
