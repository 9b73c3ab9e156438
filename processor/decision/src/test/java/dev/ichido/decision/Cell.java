package dev.ichido.decision;

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
@interface Cell {
  String[] value();
}
