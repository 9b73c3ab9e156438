package dev.ichido.junit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Starts the stack of a class before its tests, or finds the one that runs already. */
final class IchidoExtension implements BeforeAllCallback, ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(IchidoExtension.class);
  private static final String NOTHING =
      """
      tenants: { test: { key: 'a key for tests only', principals: ['agent:test'] } }
      actions: {}
      """;

  /** Closed by JUnit with the test plan. */
  private record Running(Ichido ichido) implements AutoCloseable {
    @Override
    public void close() {
      ichido.close();
    }
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    var unused = find(context);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Ichido.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return find(context);
  }

  private static Ichido find(ExtensionContext context) {
    Class<?> type = context.getRequiredTestClass();
    IchidoStack annotation = annotation(type);
    String config = config(type, annotation);
    Running running =
        context
            .getRoot()
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(
                config, text -> new Running(Ichido.start(type.getName(), text)), Running.class);
    return running.ichido();
  }

  private static IchidoStack annotation(Class<?> type) {
    for (Class<?> at = type; at != null; at = at.getEnclosingClass()) {
      IchidoStack found = at.getAnnotation(IchidoStack.class);
      if (found != null) {
        return found;
      }
    }
    throw new IllegalStateException(
        "Expected @IchidoStack on " + type.getName() + ", but it is not there. Add it.");
  }

  private static String config(Class<?> type, IchidoStack annotation) {
    String resource = annotation.resource();
    if (resource.isEmpty()) {
      return annotation.value().isEmpty() ? NOTHING : annotation.value();
    }
    String path = resource.startsWith("/") ? resource : "/" + resource;
    try (InputStream in = type.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalArgumentException(
            "Expected the resource of @IchidoStack on the class path, but "
                + path
                + " is not there. Check its path and that it is among the test resources.");
      }
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
