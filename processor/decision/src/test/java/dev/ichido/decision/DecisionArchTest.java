package dev.ichido.decision;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.time.Instant;

/** What the decision may know: values, time as a value, and nothing of the world. */
@AnalyzeClasses(packages = "dev.ichido", importOptions = DoNotIncludeTests.class)
class DecisionArchTest {

  @ArchTest
  static final ArchRule DECISION_KNOWS_ONLY_VALUES =
      classes()
          .that()
          .resideInAPackage("dev.ichido.decision..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "dev.ichido.decision..",
              "dev.ichido.operation..",
              "java.lang..",
              "java.util..",
              "java.time..",
              "java.nio",
              "java.nio.charset",
              "java.security",
              "org.jspecify.annotations")
          .because(
              "a decision is a function of its arguments; what it needs of the world comes in as a fact of an event");

  @ArchTest
  static final ArchRule IDENTITY_DOES_NOT_KNOW_THE_DECISION =
      noClasses()
          .that()
          .resideInAPackage("dev.ichido.operation..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.ichido.decision..")
          .because("an identity must not change with the rules");

  @ArchTest
  static final ArchRule NOBODY_READS_THE_CLOCK =
      noClasses()
          .should()
          .dependOnClassesThat()
          .areAssignableTo(Clock.class)
          .orShould()
          .callMethod(Instant.class, "now")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(System.class, "nanoTime")
          .because(
              "every event carries its time, so that a task that is aborted decides the same again");

  @ArchTest
  static final ArchRule NOTHING_IS_RANDOM =
      noClasses()
          .should()
          .callMethod(java.util.UUID.class, "randomUUID")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(java.util.random.RandomGenerator.class)
          .because(
              "ids and jitter are derived, so that a record that is emitted again is the same");

  @ArchTest
  static final ArchRule ONLY_THE_MACHINE_IS_A_WAY_IN =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.ichido.decision")
          .should()
          .dependOnClassesThat()
          .haveSimpleNameEndingWith("Rules")
          .because("decide orders what the rules judge");
}
