package dev.ichido.junit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** What the page on testing shows compiles and runs: it is the text of {@link BookingIT}. */
class TestingPageTest {
  @Test
  void pageShowsTheTestThatRuns() throws IOException {
    String source =
        Files.readString(
            Path.of("src", "test", "java", "dev", "ichido", "junit", "BookingIT.java"));
    String page = Files.readString(Path.of("..", "..", "topology-docs", "testing.md"));
    String shown = source.substring(source.indexOf("@IchidoStack(")).strip();
    assertThat(page).contains("```java\n" + shown + "\n```");
  }

  @Test
  void missingResourceIsNamed() {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(Misplaced.class))
                .build(),
            listener);
    assertThat(listener.getSummary().getFailures())
        .singleElement()
        .satisfies(
            failure ->
                assertThat(failure.getException())
                    .hasMessageContaining("/nowhere.yaml is not there"));
  }

  @IchidoStack(resource = "nowhere.yaml")
  static class Misplaced {
    @Test
    void neverRuns() {}
  }
}
