@NullMarked
package dev.ichido.gateway;

import org.jspecify.annotations.NullMarked;
