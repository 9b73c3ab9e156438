package dev.ichido.topology.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.math.BigInteger;
import org.junit.jupiter.api.Test;

class ArgumentsSchemaTest {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private static ArgumentsSchema schema(String yaml) {
    LocatedTree tree = LocatedTree.read("schema.yaml", yaml);
    return ArgumentsSchema.compile("schema", tree.root());
  }

  private static JsonNode memo(String text) {
    return NODES.objectNode().put("memo", text);
  }

  /** The JDK's matcher calls itself once for each character of such a group. */
  @Test
  void aPatternThatExhaustsTheStackRefusesItsArgumentsAndNothingElse() {
    ArgumentsSchema schema =
        schema("{ properties: { memo: { type: string, pattern: '^(\\w|\\s)*$' } } }");

    assertThat(schema.findMisfit(memo("x".repeat(200_000))))
        .contains("the schema could not be applied");
    assertThat(schema.findMisfit(memo("all is well"))).isEmpty();
    assertThat(schema.findMisfit(memo("-")))
        .hasValueSatisfying(it -> assertThat(it).contains("memo"));
  }

  @Test
  void aReferenceThatLeadsNowhereRefuses() {
    assertThat(schema("{ properties: { memo: { $ref: '#/none' } } }").findMisfit(memo("x")))
        .contains("the schema could not be applied");
  }

  @Test
  void aPlaceIsToldShortHoweverLongItsNamesAre() {
    ArgumentsSchema schema = schema("{ additionalProperties: false }");

    assertThat(schema.findMisfit(NODES.objectNode().put("n".repeat(900_000), 1)))
        .hasValueSatisfying(it -> assertThat(it).startsWith("/").hasSizeLessThan(1_100));
  }

  /** What the schema says, it says however its own numbers are written. */
  @Test
  void anIntegerOfTheSchemaIsOneHoweverItIsWritten() {
    JsonNode one = NODES.arrayNode().add(BigInteger.ONE);

    assertThat(schema("{ const: [1.0] }").findMisfit(one)).isEmpty();
    assertThat(schema("{ enum: [[1e0]] }").findMisfit(one)).isEmpty();
    assertThat(schema("{ items: { maximum: 1.0e0 } }").findMisfit(one)).isEmpty();
    assertThat(schema("{ const: [1.5] }").findMisfit(one)).isPresent();
    assertThat(schema("{ items: { maximum: 1e-2000 } }").findMisfit(one)).isPresent();
  }
}
