package dev.ichido.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ichido.app.Stack;
import dev.ichido.config.ConfigLoader;
import dev.ichido.config.IchidoConfig;
import dev.ichido.embedded.DataFolder;
import dev.ichido.outbox.TenantKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/** The demo's remote with its book, and the tenant's key, in a data folder. */
public final class DemoSetup implements AutoCloseable {
  private final Path folder;
  private final EffectBook book;
  private final DemoRemote remote;
  private final String key;

  private DemoSetup(Path folder, EffectBook book, DemoRemote remote, String key) {
    this.folder = folder;
    this.book = book;
    this.remote = remote;
    this.key = key;
  }

  /** Starts the remote. */
  public static DemoSetup open(DataFolder data) {
    Path folder = data.resolve("demo");
    try {
      Files.createDirectories(folder);
      String key = readOrMintKey(folder.resolve("tenant.key"));
      EffectBook book = EffectBook.open(folder.resolve("effects.jsonl"));
      return new DemoSetup(folder, book, DemoRemote.start(book), key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A tenant and two actions of this remote, for a first try. */
  public IchidoConfig gettingStarted() {
    return gettingStarted(remote.port(), key);
  }

  /** The same, of a folder on which another process runs. */
  public static IchidoConfig gettingStarted(Path data) {
    try {
      String key = Files.readString(data.resolve("demo/tenant.key"), UTF_8).strip();
      return gettingStarted(1, key);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static IchidoConfig gettingStarted(int port, String key) {
    return DemoPolicy.under(
        ConfigLoader.ofProcess().load("the built-in configuration", Stack.DEFAULTS),
        "",
        List.of(call("demo.note", ToolCall.Effect.WRITE), call("demo.look", ToolCall.Effect.READ)),
        false,
        port,
        key);
  }

  Path folder() {
    return folder;
  }

  EffectBook book() {
    return book;
  }

  TenantKey tenantKey() {
    return TenantKey.of(key.getBytes(UTF_8));
  }

  IchidoConfig with(IchidoConfig config, String source, List<ToolCall> calls, boolean strict) {
    return DemoPolicy.under(config, source, calls, strict, remote.port(), key);
  }

  @Override
  public void close() {
    remote.close();
    book.close();
  }

  private static ToolCall call(String tool, ToolCall.Effect effect) {
    return new ToolCall(0, tool, "{}", null, null, null, null, null, effect, null);
  }

  /** The key of tenants that have none, in a data folder. */
  public static String readOrMintKey(DataFolder data) {
    Path folder = data.resolve("demo");
    try {
      Files.createDirectories(folder);
      return readOrMintKey(folder.resolve("tenant.key"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String readOrMintKey(Path file) throws IOException {
    if (Files.exists(file)) {
      return Files.readString(file, UTF_8).strip();
    }
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    String key = HexFormat.of().formatHex(bytes);
    Path draft = file.resolveSibling("tenant.key.new");
    Files.deleteIfExists(draft);
    if (file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.createFile(
          draft,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    Files.writeString(draft, key + "\n", UTF_8);
    Files.move(draft, file);
    return key;
  }
}
