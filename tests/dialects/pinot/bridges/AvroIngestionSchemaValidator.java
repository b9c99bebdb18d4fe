package org.apache.pinot.plugin.inputformat.avro;

import org.apache.pinot.spi.data.IngestionSchemaValidator;
import org.apache.pinot.spi.data.Schema;
import org.apache.pinot.spi.data.SchemaValidatorResult;

/**
 * Stands before the class of that name of the Avro reader of 0.12.0, which calls a method that Schema of 1.5.1
 * has no more. It finds no fault; what it would find only goes to the log.
 */
public final class AvroIngestionSchemaValidator implements IngestionSchemaValidator {
  @Override
  public void init(Schema schema, String file) {
  }

  @Override
  public String getInputSchemaType() {
    return "AVRO";
  }

  @Override
  public SchemaValidatorResult getDataTypeMismatchResult() {
    return new SchemaValidatorResult();
  }

  @Override
  public SchemaValidatorResult getSingleValueMultiValueFieldMismatchResult() {
    return new SchemaValidatorResult();
  }

  @Override
  public SchemaValidatorResult getMultiValueStructureMismatchResult() {
    return new SchemaValidatorResult();
  }

  @Override
  public SchemaValidatorResult getMissingPinotColumnResult() {
    return new SchemaValidatorResult();
  }
}
