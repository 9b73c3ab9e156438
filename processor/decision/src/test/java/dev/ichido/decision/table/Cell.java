package dev.ichido.decision.table;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Names the cells of the decision table that a test takes, as {@code state x event}. A cell that no
 * test takes fails the build.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Cell {
  String[] value();
}
