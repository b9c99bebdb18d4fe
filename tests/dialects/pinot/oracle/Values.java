import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.sql.Timestamp;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.pinot.spi.data.readers.BaseRecordExtractor;
import org.apache.pinot.spi.data.readers.GenericRow;
import org.apache.pinot.spi.data.readers.RecordExtractorConfig;
import org.apache.pinot.spi.utils.BytesUtils;
import org.apache.pinot.spi.utils.JsonUtils;

/** Values in JSON: typed ones, {"type": "FLOAT", "value": "7.9"}, and those of a plain JSON record. */
final class Values {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private Values() {
  }

  /** What Pinot's record readers make of a JSON record: lists are arrays, a truth value is text. */
  static GenericRow record(JsonNode record)
      throws Exception {
    Map<String, Object> fields = JsonUtils.jsonNodeToMap(record);
    return new Extractor().extract(fields, new GenericRow());
  }

  /** A row of typed values. */
  static GenericRow typedRow(JsonNode row) {
    GenericRow made = new GenericRow();
    row.fields().forEachRemaining(field -> made.putValue(field.getKey(), read(field.getValue())));
    return made;
  }

  static Object read(JsonNode typed) {
    if (typed.isNull()) {
      return null;
    }
    JsonNode value = typed.get("value");
    switch (typed.get("type").asText()) {
      case "BYTE":
        return Byte.valueOf(value.asText());
      case "SHORT":
        return Short.valueOf(value.asText());
      case "INT":
        return Integer.valueOf(value.asText());
      case "LONG":
        return Long.valueOf(value.asText());
      case "FLOAT":
        return Float.valueOf(value.asText());
      case "DOUBLE":
        return Double.valueOf(value.asText());
      case "BIG_INTEGER":
        return new java.math.BigInteger(value.asText());
      case "BIG_DECIMAL":
        return new BigDecimal(value.asText());
      case "BOOLEAN":
        return Boolean.valueOf(value.asText());
      case "TIMESTAMP":
        return Timestamp.valueOf(value.asText());
      case "STRING":
        return value.asText();
      case "BYTES":
        return BytesUtils.toBytes(value.asText());
      case "LIST":
        Object[] elements = new Object[value.size()];
        for (int i = 0; i < elements.length; i++) {
          elements[i] = read(value.get(i));
        }
        return elements;
      case "MAP":
        Map<String, Object> map = new LinkedHashMap<>();
        value.fields().forEachRemaining(entry -> map.put(entry.getKey(), read(entry.getValue())));
        return map;
      default:
        throw new IllegalArgumentException("no such type of value: " + typed);
    }
  }

  static JsonNode row(GenericRow row) {
    ObjectNode values = JSON.objectNode();
    new TreeMap<>(row.getFieldToValueMap()).forEach((name, value) -> values.set(name, write(value)));
    ObjectNode answer = JSON.objectNode();
    answer.set("values", values);
    ArrayNode nulls = answer.putArray("nulls");
    row.getNullValueFields().stream().sorted().forEach(nulls::add);
    answer.put("incomplete", row.isIncomplete());
    answer.put("sanitized", row.isSanitized());
    return answer;
  }

  static JsonNode write(Object value) {
    if (value == null) {
      return JSON.nullNode();
    }
    if (value instanceof byte[]) {
      return typed("BYTES", BytesUtils.toHexString((byte[]) value));
    }
    if (value instanceof Object[]) {
      return list(java.util.Arrays.asList((Object[]) value));
    }
    if (value.getClass().isArray()) {
      Object[] boxed = new Object[java.lang.reflect.Array.getLength(value)];
      for (int i = 0; i < boxed.length; i++) {
        boxed[i] = java.lang.reflect.Array.get(value, i);
      }
      return list(java.util.Arrays.asList(boxed));
    }
    if (value instanceof Collection) {
      return list((Collection<?>) value);
    }
    if (value instanceof Map) {
      ObjectNode entries = JSON.objectNode();
      ((Map<?, ?>) value).forEach((key, entry) -> entries.set(String.valueOf(key), write(entry)));
      ObjectNode answer = JSON.objectNode().put("type", "MAP");
      answer.set("value", entries);
      return answer;
    }
    return typed(kind(value), value.toString());
  }

  private static String kind(Object value) {
    if (value instanceof Integer) {
      return "INT";
    }
    if (value instanceof java.math.BigInteger) {
      return "BIG_INTEGER";
    }
    if (value instanceof BigDecimal) {
      return "BIG_DECIMAL";
    }
    return value.getClass().getSimpleName().toUpperCase();
  }

  private static JsonNode typed(String type, String value) {
    return JSON.objectNode().put("type", type).put("value", value);
  }

  private static JsonNode list(Collection<?> elements) {
    ArrayNode written = JSON.arrayNode();
    elements.forEach(element -> written.add(write(element)));
    ObjectNode answer = JSON.objectNode().put("type", "LIST");
    answer.set("value", written);
    return answer;
  }

  private static final class Extractor extends BaseRecordExtractor<Map<String, Object>> {
    @Override
    public void init(java.util.Set<String> fields, RecordExtractorConfig config) {
    }

    @Override
    public GenericRow extract(Map<String, Object> from, GenericRow to) {
      from.forEach((name, value) -> to.putValue(name, value == null ? null : convert(value)));
      return to;
    }
  }
}
