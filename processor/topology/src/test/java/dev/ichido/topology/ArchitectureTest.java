package dev.ichido.topology;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import dev.ichido.decision.OperationStateMachine;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.state.KeyValueStore;

@AnalyzeClasses(
    packages = "dev.ichido.topology",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule AVRO_STOPS_IN_WIRE =
      noClasses()
          .that()
          .resideOutsideOfPackage("..topology.wire..")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(SpecificRecord.class)
          .because("a schema may change without the processors; map it in wire");

  @ArchTest
  static final ArchRule ONLY_STORES_TOUCH_STORES =
      noClasses()
          .that()
          .resideOutsideOfPackage("..topology.store..")
          .should()
          .dependOnClassesThat()
          .areAssignableTo(KeyValueStore.class)
          .because("the ledger and its deadlines must change together; go through OperationStore");

  @ArchTest
  static final ArchRule ONE_PLACE_ASKS_FOR_JUDGEMENT =
      noClasses()
          .that()
          .doNotHaveFullyQualifiedName("dev.ichido.topology.operation.OperationProcessor")
          .should()
          .callMethodWhere(
              com.tngtech.archunit.core.domain.JavaCall.Predicates.target(
                      com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner(
                          com.tngtech.archunit.core.domain.JavaClass.Predicates.type(
                              OperationStateMachine.class)))
                  .and(
                      com.tngtech.archunit.core.domain.JavaCall.Predicates.target(
                          com.tngtech.archunit.core.domain.properties.HasName.Predicates.name(
                              "decide"))))
          .because("state, event, decide, write, put is one shape in one place");

  @ArchTest
  static final ArchRule PROCESSORS_TALK_TO_NOBODY =
      noClasses()
          .that()
          .resideInAnyPackage("..topology.operation..", "..topology.store..", "..topology.wire..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "java.net..", "java.nio.file..", "java.sql..", "java.util.concurrent..")
          .because("what is not in the transaction is done twice; the executor talks to the world");

  @ArchTest
  static final ArchRule PROCESSORS_READ_NO_CLOCK_OF_THEIR_OWN =
      noClasses()
          .that()
          .areAssignableTo(Processor.class)
          .should()
          .callMethod(java.time.Instant.class, "now")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .because("time is the task's, injected and monotone");

  @ArchTest
  static final ArchRule NO_OTHER_ROLE =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.ichido.outbox..",
              "dev.ichido.relay..",
              "dev.ichido.executor..",
              "dev.ichido.inbox..")
          .because("roles meet in topics and schemas");
}
