package dev.ichido.replay;

import dev.ichido.schemas.OperationResult;
import dev.ichido.schemas.SideEffectCommand;
import dev.ichido.schemas.ToolIntent;
import dev.ichido.schemas.Topics;
import java.util.Locale;
import org.apache.avro.specific.SpecificRecordBase;

/** The topics whose records drive work. */
public enum ReplayTopic {
  INTENTS(ToolIntent.class),
  COMMANDS(SideEffectCommand.class),
  RESULTS(OperationResult.class);

  private final Class<? extends SpecificRecordBase> type;

  ReplayTopic(Class<? extends SpecificRecordBase> type) {
    this.type = type;
  }

  Class<? extends SpecificRecordBase> type() {
    return type;
  }

  String in(Topics topics) {
    return switch (this) {
      case INTENTS -> topics.intents();
      case COMMANDS -> topics.commands();
      case RESULTS -> topics.results();
    };
  }

  /** As it is typed and written in files. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
