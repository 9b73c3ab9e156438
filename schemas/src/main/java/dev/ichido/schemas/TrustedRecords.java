package dev.ichido.schemas;

import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericEnumSymbol;
import org.apache.avro.specific.SpecificRecordBase;
import org.apache.avro.util.ClassSecurityValidator;
import org.apache.avro.util.ClassSecurityValidator.ClassSecurityPredicate;

/**
 * Lets Avro make instances of the generated classes. From 1.12.2 on it loads none that it was not
 * told to trust, not even for the default of a builder, and it knows no place for a library to say
 * so but a system property of the application. It does load this class as a factory of logical
 * types before it parses the first schema, so the trust is there before it is needed.
 */
public final class TrustedRecords implements LogicalTypes.LogicalTypeFactory {
  private static final String PACKAGE = TrustedRecords.class.getPackageName();

  static {
    ClassSecurityPredicate others = ClassSecurityValidator.getGlobal();
    ClassSecurityValidator.setGlobal(
        ClassSecurityValidator.composite(others, TrustedRecords::generated));
  }

  private static boolean generated(Class<?> type) {
    return type.getPackageName().equals(PACKAGE)
        && (SpecificRecordBase.class.isAssignableFrom(type)
            || GenericEnumSymbol.class.isAssignableFrom(type));
  }

  @Override
  public String getTypeName() {
    return "ichido-trusted-records";
  }

  @Override
  public LogicalType fromSchema(Schema schema) {
    return new LogicalType(getTypeName());
  }
}
