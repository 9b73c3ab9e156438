/** What an intent means, as a versioned keyed digest. */
@NullMarked
package dev.ichido.operation.fingerprint;

import org.jspecify.annotations.NullMarked;
