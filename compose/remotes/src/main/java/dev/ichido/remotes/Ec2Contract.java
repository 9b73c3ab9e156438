package dev.ichido.remotes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Client tokens as Amazon EC2 has them.
 *
 * <p>From <a href="https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html">
 * Ensuring idempotency in Amazon EC2 API requests</a> (copy of 2026) and its older <a
 * href="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Run_Instance_Idempotency.html">page on
 * RunInstances</a>:
 *
 * <ul>
 *   <li>{@code ClientToken}: up to 64 ASCII characters, case-sensitive; optional.
 *   <li>A request that completed successfully, sent again with the same token and parameters,
 *       succeeds without another effect.
 *   <li>The same token with other parameters: 400 {@code IdempotentParameterMismatch}.
 *   <li>The same token in another region is another request: each region is a world of its own.
 *   <li>For RunInstances the token is valid until 24 hours after the instance's termination at
 *       least; no instance ends here, so by default it does not run out.
 * </ul>
 *
 * <p>What an error keeps is not documented: here only an effect is remembered, never a failure. Nor
 * is what the second of two concurrent requests gets: here it waits for the first.
 *
 * <p>The Query API at {@code /REGION/} (the path stands in for the regional host name; {@code
 * us-east-1} when there is none): {@code Action, ClientToken} and others in the query, in a form,
 * or as members of a JSON body. {@code Describe…} with {@code Filter.1.Name=client-token} (or
 * {@code natural-key}) and {@code Filter.1.Value.1} reads. Answers are XML, and JSON with {@code
 * Accept: application/json}, which EC2 itself does not offer. {@code GET /REGION/status?key=…} is
 * there as well.
 */
final class Ec2Contract extends RemoteContract {
  private static final Pattern TOKEN = Pattern.compile("\\p{ASCII}{1,64}");
  private static final Pattern REGION = Pattern.compile("[a-z]{2}(-[a-z]+)+-[0-9]");
  private static final Pattern REGIONAL_HOST =
      Pattern.compile("ec2\\.([a-z0-9-]+)\\.amazonaws\\.com(:[0-9]+)?");

  @Override
  boolean writes(Request request) {
    Optional<String> action = request.parameter("Action");
    return action.isPresent() ? !action.get().startsWith("Describe") : !request.head().reads();
  }

  @Override
  Answer write(Request request, Execution execution) {
    String region = region(request.head());
    String action = request.parameter("Action").orElse("");
    if (action.isEmpty()) {
      return error(400, "MissingAction", "The request must contain the parameter Action.");
    }
    Optional<String> token = request.parameter("ClientToken").filter(t -> !t.isEmpty());
    if (token.isPresent() && !TOKEN.matcher(token.get()).matches()) {
      return error(400, "InvalidParameterValue", "ClientToken has at most 64 ASCII characters.");
    }
    String digest = Json.digest(action, request.parameters());
    Execution.Work work =
        new Execution.Work(
            region,
            token.orElse(null),
            digest,
            action + "/" + UUID.randomUUID(),
            -1,
            version -> "i-0" + UUID.randomUUID().toString().replace("-", "").substring(0, 16),
            effect -> instance(action + "Response", List.of(effect)),
            () -> error(412, "stale", "Changed."));
    if (token.isEmpty()) {
      return execution.unprotected(work);
    }
    KeyMemory.Claim claim = execution.claimAfterFlight(region, token.get(), digest);
    return switch (claim) {
      case KeyMemory.Claim.First first -> execution.first(work, first);
      case KeyMemory.Claim.Repeated repeated -> repeated.answer();
      case KeyMemory.Claim.InFlight flight ->
          error(503, "Unavailable", "The first request is not done.");
      case KeyMemory.Claim.OtherParameters other ->
          error(
              400,
              "IdempotentParameterMismatch",
              "Arguments on this idempotent request are inconsistent with arguments used in"
                  + " previous request(s).");
    };
  }

  @Override
  Answer read(Request request, StatusReads reads) {
    String region = region(request.head());
    Optional<String> action = request.parameter("Action");
    if (action.isEmpty()) {
      return LegacyContract.plainStatus(request, region, reads);
    }
    String value = request.parameter("Filter.1.Value.1").orElse("");
    By by =
        switch (request.parameter("Filter.1.Name").orElse("")) {
          case "client-token" -> By.DOWNSTREAM_KEY;
          case "natural-key" -> By.NATURAL_KEY;
          default -> By.REFERENCE;
        };
    return instance(action.get() + "Response", reads.look(region, by, value));
  }

  @Override
  Answer error(int status, String code, String message) {
    ObjectNode body = Json.object();
    ObjectNode response = body.putObject("Response");
    response.putObject("Errors").putObject("Error").put("Code", code).put("Message", message);
    response.put("RequestID", UUID.randomUUID().toString());
    return Answer.json(status, body);
  }

  @Override
  Optional<Answer> keptAfterCommit(Answer success, Answer answered) {
    return Optional.of(success);
  }

  @Override
  Optional<Answer> keptWithoutCommit(Answer answered) {
    return Optional.empty();
  }

  @Override
  Answer shaped(Request request, Answer answer) {
    if (request.head().path().endsWith("/status")
        || request.header("accept").filter(v -> v.contains("application/json")).isPresent()) {
      return answer;
    }
    StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    Json.parse(answer.body())
        .properties()
        .forEach(member -> appendXml(xml, member.getKey(), member.getValue()));
    return Answer.text(answer.status(), "text/xml;charset=UTF-8", xml.toString());
  }

  private static void appendXml(StringBuilder xml, String name, JsonNode value) {
    xml.append('<').append(name).append('>');
    if (value.isArray()) {
      value.forEach(item -> appendXml(xml, "item", item));
    } else if (value.isObject()) {
      value.properties().forEach(m -> appendXml(xml, m.getKey(), m.getValue()));
    } else {
      xml.append(
          value
              .asText()
              .chars()
              .mapToObj(
                  c ->
                      switch (c) {
                        case '<' -> "&lt;";
                        case '>' -> "&gt;";
                        case '&' -> "&amp;";
                        default -> Character.toString(c);
                      })
              .collect(Collectors.joining()));
    }
    xml.append("</").append(name).append('>');
  }

  private static Answer instance(String element, List<Effect> effects) {
    ObjectNode body = Json.object();
    ObjectNode response = body.putObject(element);
    response.put("requestId", UUID.randomUUID().toString());
    ArrayNode instances = response.putArray("instancesSet");
    for (Effect effect : effects) {
      ObjectNode instance = instances.addObject();
      instance.put("instanceId", effect.reference());
      instance.put("clientToken", effect.downstreamKey());
      instance.put("launchTime", effect.at().toString());
    }
    return Answer.json(200, body);
  }

  private static String region(Request.Head head) {
    List<String> segments = head.segments();
    if (!segments.isEmpty() && REGION.matcher(segments.getFirst()).matches()) {
      return segments.getFirst();
    }
    Matcher host = REGIONAL_HOST.matcher(head.header("host").orElse(""));
    return host.matches() ? host.group(1) : "us-east-1";
  }
}
