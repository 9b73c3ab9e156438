package dev.ichido.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version that the build wrote down. */
final class VersionProvider implements IVersionProvider {
  @Override
  public String[] getVersion() throws IOException {
    return new String[] {"ichido " + version()};
  }

  static String version() throws IOException {
    Properties properties = new Properties();
    try (InputStream stream = VersionProvider.class.getResourceAsStream("version.properties")) {
      if (stream != null) {
        properties.load(stream);
      }
    }
    return properties.getProperty("version", "unknown");
  }
}
