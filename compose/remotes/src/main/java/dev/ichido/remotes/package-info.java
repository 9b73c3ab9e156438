/**
 * Stand-ins for the remote systems that effects happen in: HTTP servers on loopback that keep the
 * published contract of their kind, misbehave on demand, and write every effect into a book of
 * their own. The book is the only oracle of how often something happened; nothing here knows the
 * system under test.
 */
@NullMarked
package dev.ichido.remotes;

import org.jspecify.annotations.NullMarked;
