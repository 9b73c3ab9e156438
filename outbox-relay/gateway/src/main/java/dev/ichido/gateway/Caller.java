package dev.ichido.gateway;

/** Who calls, as the credential says; nothing in a request's body can say otherwise. */
record Caller(String tenant, String principal) {}
