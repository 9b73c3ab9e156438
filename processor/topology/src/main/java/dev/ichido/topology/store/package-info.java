/**
 * The stores of the processor: ledger, deadlines, retry budgets. Nothing else touches a key-value
 * store.
 */
@NullMarked
package dev.ichido.topology.store;

import org.jspecify.annotations.NullMarked;
