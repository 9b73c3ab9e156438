package dev.ichido.simulation;

/** A record that the processors read. */
sealed interface Read permits Relays.Row, Executors.Told, Mail {}
