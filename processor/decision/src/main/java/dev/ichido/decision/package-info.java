/** May this side effect run now, and if not, what is the truthful reply. */
@NullMarked
package dev.ichido.decision;

import org.jspecify.annotations.NullMarked;
