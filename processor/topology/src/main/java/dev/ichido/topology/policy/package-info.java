/**
 * The policy file: tenants, actions, authorization, schemas of arguments, and its start-up checks.
 */
@NullMarked
package dev.ichido.topology.policy;

import org.jspecify.annotations.NullMarked;
