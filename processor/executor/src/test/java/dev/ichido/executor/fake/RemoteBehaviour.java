package dev.ichido.executor.fake;

import dev.ichido.executor.fake.HttpExchange.Answer;
import dev.ichido.executor.fake.HttpExchange.Request;

/** How a kind of remote answers when nothing goes wrong on the wire. */
public interface RemoteBehaviour {

  /** Writes for effects. */
  EffectBook book();

  /** What a request, a write or a status read, is about, as its content tells. */
  String operationOf(Request request);

  /** Performs a write, with an effect or without, and answers. */
  Answer perform(Request request);

  /** Answers a status read. */
  Answer find(Request request);
}
