package dev.ichido.gateway;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(
    packages = "dev.ichido.gateway",
    importOptions = ImportOption.DoNotIncludeTests.class)
class GatewayArchTest {
  @ArchTest
  static final ArchRule NO_OTHER_ROLE =
      classes()
          .that()
          .resideInAPackage("dev.ichido.gateway..")
          .should()
          .onlyDependOnClassesThat(
              com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages(
                      "dev.ichido..", "org.apache.kafka..", "org.apache.avro..", "io.debezium..")
                  .or(
                      com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage(
                          "dev.ichido.gateway..", "dev.ichido.outbox..")))
          .because("the door writes the outbox and reads the inbox's tables; roles meet in topics");
}
