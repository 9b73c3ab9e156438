/** Records that were sent once, sent again: from the topics of a system, or from a capture file. */
@NullMarked
package dev.ichido.replay;

import org.jspecify.annotations.NullMarked;
