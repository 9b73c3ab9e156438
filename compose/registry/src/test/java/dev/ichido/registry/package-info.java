@NullMarked
package dev.ichido.registry;

import org.jspecify.annotations.NullMarked;
