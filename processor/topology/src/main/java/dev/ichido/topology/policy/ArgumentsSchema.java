package dev.ichido.topology.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.dialect.DialectId;
import dev.ichido.operation.fingerprint.CanonicalForm;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Optional;

/** The JSON Schema (draft 2020-12) of an action's arguments. Nothing is fetched for it. */
public final class ArgumentsSchema {
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(
          SpecificationVersion.DRAFT_2020_12,
          builder -> builder.schemaLoader(loader -> loader.fetchRemoteResources(false)));

  /** Characters of a place that are told. */
  private static final int LONGEST_NAME = 500;

  /** Bits of an integer that a double holds. */
  private static final int DOUBLE_BITS = 53;

  private final Schema schema;

  private ArgumentsSchema(Schema schema) {
    this.schema = schema;
  }

  static ArgumentsSchema compile(String where, JsonNode definition) {
    try {
      List<Error> errors =
          REGISTRY.getSchema(SchemaLocation.of(DialectId.DRAFT_2020_12)).validate(definition);
      if (!errors.isEmpty()) {
        throw PolicyException.schemaWrong(where, place(errors.get(0)));
      }
      return new ArgumentsSchema(REGISTRY.getSchema(spelledOnce(definition)));
    } catch (SchemaException e) {
      throw PolicyException.schemaWrong(where, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Where the arguments do not fit: pointer and keyword of the first misfit, never a value.
   *
   * @param arguments in which an integer is one however it was written
   */
  public Optional<String> findMisfit(JsonNode arguments) {
    try {
      return schema.validate(arguments).stream().findFirst().map(ArgumentsSchema::place);
    } catch (RuntimeException | StackOverflowError e) {
      // A reference that cannot be followed shows up only here, and so does a pattern that recurses
      // once a character: what cannot be checked is refused.
      return Optional.of("the schema could not be applied");
    }
  }

  /** With every integer as its digits, as arguments have them: the library compares by kind. */
  private static JsonNode spelledOnce(JsonNode node) {
    if (node instanceof ObjectNode object) {
      ObjectNode copy = JsonNodeFactory.instance.objectNode();
      object.properties().forEach(it -> copy.set(it.getKey(), spelledOnce(it.getValue())));
      return copy;
    }
    if (node instanceof ArrayNode array) {
      ArrayNode copy = JsonNodeFactory.instance.arrayNode(array.size());
      array.forEach(it -> copy.add(spelledOnce(it)));
      return copy;
    }
    if (!node.isNumber()) {
      return node;
    }
    BigDecimal number = node.decimalValue();
    boolean bounded = number.precision() - number.scale() <= CanonicalForm.MAX_EXPONENT + 1;
    return bounded && number.stripTrailingZeros().scale() <= 0
        ? integer(number.toBigIntegerExact())
        : node;
  }

  /**
   * An integer as the library judges it exactly: what is no decimal it divides as a double. Equal
   * ones are of one kind.
   */
  public static JsonNode integer(BigInteger value) {
    return value.bitLength() <= DOUBLE_BITS
        ? JsonNodeFactory.instance.numberNode(value)
        : JsonNodeFactory.instance.numberNode(new BigDecimal(value));
  }

  private static String place(Error error) {
    String at = cut(String.valueOf(error.getInstanceLocation()));
    String named = error.getProperty() == null ? "" : " '" + cut(error.getProperty()) + "'";
    return "%s fails %s%s".formatted(at.isEmpty() ? "/" : at, error.getKeyword(), named);
  }

  /** A member may have a name that is as long as all arguments may be. */
  private static String cut(String name) {
    return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME) + "...";
  }
}
