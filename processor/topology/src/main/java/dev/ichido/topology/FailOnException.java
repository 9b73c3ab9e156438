package dev.ichido.topology;

import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProcessingExceptionHandler;
import org.apache.kafka.streams.errors.ProductionExceptionHandler;
import org.apache.kafka.streams.processor.api.Record;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fails on everything. A claim may have been put before the exception: resumed, the claim would
 * stay without its command, and the retry would be judged a duplicate. The aborted transaction
 * takes both back, and the record is processed again.
 */
final class FailOnException {
  private static final Logger LOG = LoggerFactory.getLogger(FailOnException.class);

  private FailOnException() {}

  private static void log(String what, ErrorHandlerContext context, Exception exception) {
    LOG.error(
        "{} failed in node {} at {}-{} offset {}; the transaction is aborted.",
        what,
        context.processorNodeId(),
        context.topic(),
        context.partition(),
        context.offset(),
        exception);
  }

  /** For exceptions inside a processor. */
  public static final class Processing implements ProcessingExceptionHandler {
    @Override
    public ProcessingExceptionHandler.Response handleError(
        ErrorHandlerContext context, Record<?, ?> record, Exception exception) {
      log("Processing", context, exception);
      return ProcessingExceptionHandler.Response.fail();
    }

    @Override
    public void configure(Map<String, ?> configs) {
      // Nothing is configurable here, on purpose.
    }
  }

  /** For records that a sink could not send. */
  public static final class Production implements ProductionExceptionHandler {
    @Override
    public ProductionExceptionHandler.Response handleError(
        ErrorHandlerContext context, ProducerRecord<byte[], byte[]> record, Exception exception) {
      log("Sending to " + record.topic(), context, exception);
      return ProductionExceptionHandler.Response.fail();
    }

    @Override
    @SuppressWarnings("rawtypes") // As Kafka declares it.
    public ProductionExceptionHandler.Response handleSerializationError(
        ErrorHandlerContext context,
        ProducerRecord record,
        Exception exception,
        SerializationExceptionOrigin origin) {
      log("Writing for " + record.topic(), context, exception);
      return ProductionExceptionHandler.Response.fail();
    }

    @Override
    public void configure(Map<String, ?> configs) {
      // Nothing is configurable here, on purpose.
    }
  }
}
