package dev.ichido.gateway;

/** The addresses of the door. */
enum Route {
  EXECUTE("POST", "/v1/actions/{action}"),
  ACTION("GET", "/v1/actions/{action}"),
  OPERATIONS("GET", "/v1/operations"),
  OPERATION("GET", "/v1/operations/{id}"),
  CANCEL("DELETE", "/v1/operations/{id}"),
  REPLIES("GET", "/v1/replies"),
  OPENAPI("GET", "/openapi.json");

  private final String method;
  private final String path;

  Route(String method, String path) {
    this.method = method;
    this.path = path;
  }

  String method() {
    return method;
  }

  String path() {
    return path;
  }
}
