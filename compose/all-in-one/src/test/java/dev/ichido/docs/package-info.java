@NullMarked
package dev.ichido.docs;

import org.jspecify.annotations.NullMarked;
