@NullMarked
package dev.ichido.junit;

import org.jspecify.annotations.NullMarked;
