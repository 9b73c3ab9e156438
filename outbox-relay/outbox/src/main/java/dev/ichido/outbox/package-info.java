/** The library with which an agent runtime writes intents into its own transaction. */
@NullMarked
package dev.ichido.outbox;

import org.jspecify.annotations.NullMarked;
