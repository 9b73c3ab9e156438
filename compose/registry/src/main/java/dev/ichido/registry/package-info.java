/**
 * A schema registry for the embedded stack, with the REST interface that Confluent's clients speak.
 * In production {@code schema.registry.url} points at a registry that is run as one.
 */
@NullMarked
package dev.ichido.registry;

import org.jspecify.annotations.NullMarked;
