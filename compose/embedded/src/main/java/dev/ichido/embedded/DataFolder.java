package dev.ichido.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * A data folder that this process owns. The lock is the operating system's, so a killed process
 * never leaves one behind; a folder has one owner at a time.
 */
public final class DataFolder implements AutoCloseable {
  /** Less than this can't hold a fresh database and the first segments of a broker. */
  private static final long LEAST_FREE_BYTES = 256L << 20;

  private final Path path;
  private final FileChannel channel;
  private final FileLock lock;

  private DataFolder(Path path, FileChannel channel, FileLock lock) {
    this.path = path;
    this.channel = channel;
    this.lock = lock;
  }

  /**
   * Creates the folder if it is missing (readable by its owner only) and locks it.
   *
   * @throws EmbeddedServerException DATA_FOLDER_IN_USE, DATA_FOLDER_UNUSABLE, DISK_FULL
   */
  public static DataFolder open(Path folder) {
    Path path = folder.toAbsolutePath().normalize();
    create(path);
    // Beside the lock file: closing any channel of a locked file drops this process's lock on it.
    Path owner = path.resolve("lock.owner");
    FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      FileLock lock = tryLock(channel);
      if (lock == null) {
        channel.close();
        throw EmbeddedServerException.folderInUse(path, describeOwner(owner));
      }
      Files.writeString(owner, String.valueOf(ProcessHandle.current().pid()), UTF_8);
      long free = Files.getFileStore(path).getUsableSpace();
      if (free < LEAST_FREE_BYTES) {
        lock.release();
        channel.close();
        throw EmbeddedServerException.diskFull(path, free >> 20, null);
      }
      return new DataFolder(path, channel, lock);
    } catch (IOException e) {
      closeQuietly(channel);
      throw EmbeddedServerException.folderUnusable(path, reason(e), e);
    }
  }

  public Path path() {
    return path;
  }

  /** A folder inside, not created. */
  public Path resolve(String name) {
    return path.resolve(name);
  }

  @Override
  public void close() {
    if (!lock.isValid()) {
      return;
    }
    try {
      lock.release();
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void create(Path path) {
    try {
      boolean posix = path.getFileSystem().supportedFileAttributeViews().contains("posix");
      if (Files.isDirectory(path)) {
        return;
      }
      Path parent = path.getParent();
      if (parent != null) {
        Files.createDirectories(parent);
      }
      if (posix) {
        Files.createDirectory(
            path,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } else {
        Files.createDirectory(path);
      }
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(path)) {
        throw EmbeddedServerException.folderUnusable(path, "there is a file in its place", e);
      }
    } catch (IOException e) {
      throw EmbeddedServerException.folderUnusable(path, reason(e), e);
    }
  }

  private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
    try {
      return channel.tryLock();
    } catch (OverlappingFileLockException heldByThisProcess) {
      return null;
    }
  }

  private static String describeOwner(Path owner) {
    try {
      return "process " + Files.readString(owner, UTF_8).strip();
    } catch (IOException e) {
      return "another process";
    }
  }

  private static String reason(IOException e) {
    return e instanceof AccessDeniedException
        ? "the permission is denied"
        : "it can't be used (" + e.getMessage() + ")";
  }

  private static void closeQuietly(@Nullable FileChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException alreadyFailing) {
        // The caller reports the first failure.
      }
    }
  }
}
