/** Proofs of the decision. */
@NullMarked
package dev.ichido.decision;

import org.jspecify.annotations.NullMarked;
