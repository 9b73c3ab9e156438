/**
 * Remotes on loopback that behave like the systems that agents call, with faults on demand. Each
 * keeps a book of its effects, which is the only witness of how often something happened.
 */
@NullMarked
package dev.ichido.executor.fake;

import org.jspecify.annotations.NullMarked;
