@NullMarked
package dev.ichido.simulation;

import org.jspecify.annotations.NullMarked;
