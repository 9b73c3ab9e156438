package dev.ichido.gateway;

import org.jspecify.annotations.Nullable;

/** A gateway that can't start. The code is stable. */
public final class GatewayException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;

  private GatewayException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  static GatewayException of(String code, String message, @Nullable Throwable cause) {
    return new GatewayException(code, message, cause);
  }

  public String code() {
    return code;
  }
}
