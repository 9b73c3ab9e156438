package dev.ichido.topology.policy;

import com.fasterxml.jackson.databind.JsonNode;
import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaException;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.dialect.DialectId;
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
      return new ArgumentsSchema(REGISTRY.getSchema(definition));
    } catch (SchemaException e) {
      throw PolicyException.schemaWrong(where, String.valueOf(e.getMessage()));
    }
  }

  /** Where the arguments do not fit: pointer and keyword of the first misfit, never a value. */
  public Optional<String> findMisfit(JsonNode arguments) {
    try {
      return schema.validate(arguments).stream().findFirst().map(ArgumentsSchema::place);
    } catch (RuntimeException | StackOverflowError e) {
      // A reference that cannot be followed shows up only here, and so does a pattern that recurses
      // once a character: what cannot be checked is refused.
      return Optional.of("the schema could not be applied");
    }
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
