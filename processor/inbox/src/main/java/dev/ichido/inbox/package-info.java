/** Brings replies into the runtime's database. */
@NullMarked
package dev.ichido.inbox;

import org.jspecify.annotations.NullMarked;
