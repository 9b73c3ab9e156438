/**
 * The one configuration file: typed, every unknown key an error with its line, secrets resolved and
 * never printed.
 */
@NullMarked
package dev.ichido.config;

import org.jspecify.annotations.NullMarked;
