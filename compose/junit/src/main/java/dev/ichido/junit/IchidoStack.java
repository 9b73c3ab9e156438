package dev.ichido.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a real outbox, relay, broker, processor, executor and inbox in this
 * JVM. It starts in seconds, once for all classes that ask for the same configuration, and ends
 * with the test plan. A parameter of type {@link Ichido} is the way to it.
 *
 * <p>Without a configuration there is the tenant {@code test} with the principal {@code
 * agent:test}, and no action.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(IchidoExtension.class)
public @interface IchidoStack {
  /**
   * Tenants and actions as in {@code ichido.yaml}. An action with an {@code http} member calls that
   * remote; one without is performed by the handler that the test gives it.
   */
  String value() default "";

  /** The same as a file of the class path; a leading slash may be left out. */
  String resource() default "";
}
