/** The HTTP door: writes the outbox, waits on the inbox, and judges nothing. */
@NullMarked
package dev.ichido.gateway;

import org.jspecify.annotations.NullMarked;
