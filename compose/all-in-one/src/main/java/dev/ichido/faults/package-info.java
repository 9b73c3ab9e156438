/**
 * The fault battery: every role, the broker, the database and the remotes as processes of their
 * own, killed, stopped and cut off while a load runs. What is counted comes from the remotes' books
 * and from the list of what was published, never from Ichido's ledger.
 */
@NullMarked
package dev.ichido.faults;

import org.jspecify.annotations.NullMarked;
