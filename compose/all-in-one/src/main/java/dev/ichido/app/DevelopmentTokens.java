package dev.ichido.app;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.topology.policy.PolicySet;
import dev.ichido.topology.policy.TenantPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/**
 * The door's tokens of the embedded stack, one a line: token, tenant, principal. Only their owner
 * can read the file; what is in it is kept.
 */
public final class DevelopmentTokens {
  /** Its name in the data folder. */
  public static final String FILE = "gateway.tokens";

  private DevelopmentTokens() {}

  /** Adds a token for each principal of the policy that has none. */
  static void mint(Path file, PolicySet policy) throws IOException {
    List<String> known = Files.exists(file) ? Files.readAllLines(file, UTF_8) : List.of();
    List<String> lines = new ArrayList<>(known);
    for (TenantPolicy tenant :
        policy.tenants().values().stream()
            .sorted(Comparator.comparing(TenantPolicy::name))
            .toList()) {
      for (String principal : tenant.principals()) {
        String caller = " " + tenant.name() + " " + principal;
        if (known.stream().noneMatch(line -> line.endsWith(caller))) {
          lines.add(random() + caller);
        }
      }
    }
    if (!Files.exists(file)) {
      if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.createFile(
            file,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      }
    }
    Files.write(file, lines, UTF_8);
  }

  /**
   * One caller's token.
   *
   * @param token as it is sent
   */
  public record Token(String token, String tenant, String principal) {}

  /** All tokens of the stack in a data folder. */
  public static List<Token> read(Path folder) throws IOException {
    return Files.readAllLines(folder.resolve(FILE), UTF_8).stream()
        .map(line -> line.split(" ", 3))
        .map(words -> new Token(words[0], words[1], words[2]))
        .toList();
  }

  private static String random() {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
