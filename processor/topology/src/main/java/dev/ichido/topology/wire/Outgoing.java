package dev.ichido.topology.wire;

/**
 * A record that is ready to leave.
 *
 * @param node name of the sink
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared; the bytes go through as they are.
public record Outgoing(String node, byte[] value) {}
