package dev.ichido.topology.policy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.ichido.decision.ActionPolicy.DedupeAnchor;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ProviderCatalogueTest {
  private static final Map<String, ProviderCatalogue.Entry> ENTRIES =
      ProviderCatalogue.released().entries();

  @Test
  void theProvidersOfTheReleaseAreKnown() {
    assertThat(ENTRIES)
        .containsOnlyKeys(
            "stripe",
            "adyen",
            "square",
            "paypal",
            "aws-ec2",
            "aws-ecs",
            "aws-ecs-service",
            "aws-dynamodb-transactions",
            "aws-sqs-fifo",
            "google-request-id",
            "google-generation",
            "azure-repeatable");
  }

  @Test
  void figuresAreThoseOfTheProviders() {
    assertThat(ENTRIES)
        .containsEntry(
            "stripe",
            new ProviderCatalogue.Entry(
                255, true, Duration.ofHours(24), DedupeAnchor.FIRST_REQUEST))
        .containsEntry(
            "aws-dynamodb-transactions",
            new ProviderCatalogue.Entry(
                36, true, Duration.ofMinutes(10), DedupeAnchor.FIRST_REQUEST));
  }

  @Test
  void aProviderThatPublishesNoWindowIsNotGivenOne() {
    assertThat(Objects.requireNonNull(ENTRIES.get("square")).dedupeWindow()).isNull();
    assertThat(Objects.requireNonNull(ENTRIES.get("aws-ecs-service")).dedupeWindow()).isNull();
  }

  @Test
  void aPreconditionIsNoKey() {
    assertThat(Objects.requireNonNull(ENTRIES.get("google-generation")).dedupesOnKey()).isFalse();
  }

  @Test
  void everyEntryNamesItsSourceTheDateAndWhatItVerified() throws IOException {
    JsonNode providers = file().required("providers");
    assertThat(file().required("catalogue_version").intValue()).isPositive();
    assertThat(providers).hasSize(ENTRIES.size());
    providers
        .properties()
        .forEach(
            provider -> {
              JsonNode entry = provider.getValue();
              assertThat(entry.required("source").textValue()).startsWith("https://");
              assertThat(LocalDate.parse(entry.required("read").asText())).isNotNull();
              for (String member :
                  List.of("name", "scope", "on_mismatch", "on_duplicate", "key_in", "note")) {
                assertThat(entry.required(member).textValue()).isNotBlank();
              }
              List<String> members = new ArrayList<>();
              entry.fieldNames().forEachRemaining(members::add);
              entry
                  .required("verified")
                  .forEach(member -> assertThat(members).contains(member.textValue()));
            });
  }

  private static JsonNode file() throws IOException {
    try (InputStream file =
        Objects.requireNonNull(ProviderCatalogue.class.getResourceAsStream("providers.yaml"))) {
      return new YAMLMapper().readTree(file);
    }
  }
}
