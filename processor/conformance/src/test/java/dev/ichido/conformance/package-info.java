/** Scenarios, shared and own, and what the runner itself must hold to. */
@NullMarked
package dev.ichido.conformance;

import org.jspecify.annotations.NullMarked;
