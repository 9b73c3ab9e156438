package dev.ichido.executor.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.ichido.executor.ToolCommand;
import dev.ichido.executor.wire.CommandMapper.CommandInvalidException;
import dev.ichido.schemas.CommandKind;
import dev.ichido.schemas.SideEffectCommand;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class CommandMapperTest {
  private static final Instant DEADLINE = Instant.parse("2026-11-30T12:00:00Z");
  private static final byte[] KEY = "k1/t1/global/op".getBytes(StandardCharsets.UTF_8);

  @Test
  void anAttemptWithoutADeadlineIsRefused() throws CommandInvalidException {
    assertThat(CommandMapper.toCommand(KEY, command(CommandKind.EXECUTE).build()).deadline())
        .isEqualTo(DEADLINE);
    assertThatThrownBy(
            () ->
                CommandMapper.toCommand(
                    KEY, command(CommandKind.EXECUTE).setDeadline(null).build()))
        .isInstanceOfSatisfying(
            CommandInvalidException.class, e -> assertThat(e.code()).isEqualTo("COMMAND_INVALID"))
        .hasMessageContaining("deadline");
    ToolCommand read =
        CommandMapper.toCommand(KEY, command(CommandKind.RECONCILE).setDeadline(null).build());
    assertThat(read.deadline()).isNull();
  }

  @Test
  void howOldAClaimMayBeIsReadInMilliseconds() throws CommandInvalidException {
    SideEffectCommand.Builder record = command(CommandKind.EXECUTE);
    assertThat(CommandMapper.toCommand(KEY, record.build()).startWithin()).isNull();
    assertThat(CommandMapper.toCommand(KEY, record.setStartWithinMs(1_500L).build()).startWithin())
        .isEqualTo(Duration.ofMillis(1_500));
  }

  private static SideEffectCommand.Builder command(CommandKind kind) {
    return SideEffectCommand.newBuilder()
        .setKind(kind)
        .setCommandId("cmd")
        .setTenant("t1")
        .setScope("global")
        .setOperationId("op")
        .setAttempt(1)
        .setAction("pay.transfer")
        .setArguments("{}")
        .setPrincipal("agent:a")
        .setDeadline(DEADLINE);
  }
}
