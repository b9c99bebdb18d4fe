import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.pinot.common.function.FunctionInfo;
import org.apache.pinot.common.function.FunctionRegistry;
import org.apache.pinot.common.metrics.ServerMetrics;
import org.apache.pinot.segment.local.function.FunctionEvaluatorFactory;
import org.apache.pinot.segment.local.segment.creator.TransformPipeline;
import org.apache.pinot.segment.local.utils.SchemaUtils;
import org.apache.pinot.segment.local.utils.TableConfigUtils;
import org.apache.pinot.spi.config.table.TableConfig;
import org.apache.pinot.spi.config.table.ingestion.ComplexTypeConfig;
import org.apache.pinot.spi.data.DateTimeFieldSpec;
import org.apache.pinot.spi.data.DateTimeFormatSpec;
import org.apache.pinot.spi.data.DateTimeGranularitySpec;
import org.apache.pinot.spi.data.FieldSpec;
import org.apache.pinot.spi.data.Schema;
import org.apache.pinot.spi.data.TimeFieldSpec;
import org.apache.pinot.spi.data.readers.GenericRow;
import org.apache.pinot.spi.utils.JsonUtils;
import org.quartz.CronScheduleBuilder;

/** Asks Pinot's own classes: one JSON request a line on standard input, one JSON answer a line on standard output. */
public final class Oracle {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
  private static final int MOST_ARGUMENTS = 8;

  private final Segments _segments = new Segments();

  private Oracle() {
  }

  public static void main(String[] args)
      throws Exception {
    PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    Oracle oracle = new Oracle();
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      answers.println(oracle.reply(line));
    }
  }

  private String reply(String line)
      throws JsonProcessingException {
    ObjectNode reply = JSON.objectNode();
    try {
      reply.set("ok", answer(JsonUtils.stringToJsonNodeWithBigDecimal(line)));
    } catch (Exception | LinkageError failure) {
      reply.put("error", String.valueOf(failure.getMessage()));
      reply.put("class", failure.getClass().getName());
      ArrayNode causes = reply.putArray("causes");
      for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
        causes.add(String.valueOf(cause.getMessage()));
      }
    }
    return JsonUtils.objectToString(reply);
  }

  private JsonNode answer(JsonNode asked)
      throws Exception {
    switch (asked.get("op").asText()) {
      case "schema":
        return schema(text(asked, "json"));
      case "validate":
        return validate(asked);
      case "compatible":
        return JSON.booleanNode(readSchema(asked.get("new")).isBackwardCompatibleWith(readSchema(asked.get("old"))));
      case "equal":
        return JSON.booleanNode(readSchema(asked.get("a")).equals(readSchema(asked.get("b"))));
      case "legacy_time":
        return Schema.convertToDateTimeFieldSpec(
            JsonUtils.jsonNodeToObject(asked.get("json"), TimeFieldSpec.class)).toJsonObject();
      case "infer":
        return infer(asked);
      case "table":
        TableConfig config = readTable(asked.get("json"));
        TableConfigUtils.validate(config, readSchema(asked.get("schema")));
        checkSchedules(config);
        return config.toJsonNode();
      case "format":
        return format(new DateTimeFormatSpec(asked.get("format").asText()));
      case "to_millis":
        return toMillis(new DateTimeFormatSpec(asked.get("format").asText()), asked.get("value"));
      case "from_millis":
        return JSON.textNode(
            new DateTimeFormatSpec(asked.get("format").asText()).fromMillisToFormat(asked.get("value").asLong()));
      case "granularity":
        return JSON.numberNode(new DateTimeGranularitySpec(asked.get("value").asText()).granularityToMillis());
      case "convert":
        return Values.write(FieldSpec.DataType.valueOf(asked.get("type").asText()).convert(asked.get("value").asText()));
      case "default":
        return Values.write(FieldSpec.getDefaultNullValue(FieldSpec.FieldType.valueOf(asked.get("field").asText()),
            FieldSpec.DataType.valueOf(asked.get("type").asText()), asked.path("value").textValue()));
      case "compare":
        FieldSpec.DataType type = FieldSpec.DataType.valueOf(asked.get("type").asText());
        return JSON.numberNode(type.compare(Values.read(asked.get("a")), Values.read(asked.get("b"))));
      case "rows":
        return rows(asked);
      case "query":
        return query(asked);
      case "evaluate":
        return Values.write(FunctionEvaluatorFactory.getExpressionEvaluator(asked.get("expression").asText())
            .evaluate(Values.typedRow(asked.get("row"))));
      case "functions":
        return functions();
      default:
        throw new IllegalArgumentException("no such op: " + asked.get("op"));
    }
  }

  private static JsonNode schema(String json)
      throws Exception {
    Pair<Schema, Map<String, Object>> read = JsonUtils.stringToObjectAndUnrecognizedProperties(json, Schema.class);
    ObjectNode answer = JSON.objectNode();
    answer.set("schema", read.getLeft().toJsonObject());
    answer.put("text", read.getLeft().toSingleLineJsonString());
    answer.set("unrecognized", JsonUtils.objectToJsonNode(read.getRight()));
    ObjectNode defaults = answer.putObject("defaults");
    read.getLeft().getAllFieldSpecs()
        .forEach(field -> defaults.set(field.getName(), Values.write(field.getDefaultNullValue())));
    return answer;
  }

  private static JsonNode validate(JsonNode asked)
      throws Exception {
    List<TableConfig> tables = new ArrayList<>();
    for (JsonNode table : asked.path("tables")) {
      tables.add(readTable(table));
    }
    SchemaUtils.validate(readSchema(asked.get("schema")), tables, asked.path("ignore_case").asBoolean(true));
    return JSON.booleanNode(true);
  }

  private static JsonNode infer(JsonNode asked)
      throws Exception {
    Map<String, FieldSpec.FieldType> roles = new HashMap<>();
    asked.path("fields").fields()
        .forEachRemaining(role -> roles.put(role.getKey(), FieldSpec.FieldType.valueOf(role.getValue().asText())));
    List<String> unnest = new ArrayList<>();
    asked.path("unnest").forEach(field -> unnest.add(field.asText()));
    return JsonUtils.getPinotSchemaFromJsonNode(JsonUtils.stringToJsonNode(text(asked, "json")), roles,
        TimeUnit.valueOf(asked.path("time_unit").asText("DAYS")), unnest, asked.path("delimiter").asText("."),
        ComplexTypeConfig.CollectionNotUnnestedToJson.valueOf(asked.path("to_json").asText("NON_PRIMITIVE")))
        .toJsonObject();
  }

  private static JsonNode format(DateTimeFormatSpec format) {
    ObjectNode answer = JSON.objectNode();
    answer.put("size", format.getColumnSize());
    answer.put("unit", format.getColumnUnit().name());
    answer.put("time_format", format.getTimeFormat().name());
    answer.put("pattern", format.getSDFPattern());
    answer.put("zone", format.getDateTimezone() == null ? null : format.getDateTimezone().getID());
    return answer;
  }

  private static JsonNode toMillis(DateTimeFormatSpec format, JsonNode value) {
    return JSON.numberNode(
        value.isIntegralNumber() ? format.fromFormatToMillis(value.asLong()) : format.fromFormatToMillis(value.asText()));
  }

  private static JsonNode rows(JsonNode asked)
      throws Exception {
    TransformPipeline pipeline = new TransformPipeline(readTable(asked.get("table")), readSchema(asked.get("schema")));
    ObjectNode answer = JSON.objectNode();
    ArrayNode rows = answer.putArray("rows");
    int incomplete = 0;
    int skipped = 0;
    int sanitized = 0;
    for (GenericRow row : readRows(asked.get("rows"), asked.path("typed").asBoolean(false))) {
      TransformPipeline.Result result = pipeline.processRow(row);
      result.getTransformedRows().forEach(made -> rows.add(Values.row(made)));
      incomplete += result.getIncompleteRowCount();
      skipped += result.getSkippedRowCount();
      sanitized += result.getSanitizedRowCount();
    }
    answer.put("incomplete", incomplete).put("skipped", skipped).put("sanitized", sanitized);
    ArrayNode inputs = answer.putArray("inputs");
    pipeline.getInputColumns().stream().sorted().forEach(inputs::add);
    return answer;
  }

  private static JsonNode functions() {
    ObjectNode answer = JSON.objectNode();
    new TreeMap<>(FunctionRegistry.FUNCTION_MAP).forEach((name, function) -> {
      ObjectNode described = answer.putObject(name);
      ArrayNode counts = described.putArray("arguments");
      for (int count = 0; count <= MOST_ARGUMENTS; count++) {
        FunctionInfo info = FunctionRegistry.lookupFunctionInfo(name, count);
        if (info != null) {
          counts.add(count);
          described.put("returns", info.getMethod().getReturnType().getSimpleName());
        }
      }
    });
    return answer;
  }

  private JsonNode query(JsonNode asked)
      throws Exception {
    List<Schema> schemas = new ArrayList<>();
    List<List<GenericRow>> batches = new ArrayList<>();
    boolean typed = asked.path("typed").asBoolean(false);
    if (asked.has("segments")) {
      for (JsonNode segment : asked.get("segments")) {
        schemas.add(readSchema(segment.get("schema")));
        batches.add(readRows(segment.get("rows"), typed));
      }
    } else {
      batches.add(readRows(asked.get("rows"), typed));
    }
    if (asked.has("schema")) {
      schemas.add(readSchema(asked.get("schema")));
    }
    return _segments.query(readTable(asked.get("table")), schemas, batches, asked.get("sql").asText());
  }

  private static List<GenericRow> readRows(JsonNode rows, boolean typed)
      throws Exception {
    List<GenericRow> read = new ArrayList<>();
    for (JsonNode row : rows) {
      read.add(typed ? Values.typedRow(row) : Values.record(row));
    }
    return read;
  }

  private static Schema readSchema(JsonNode json)
      throws Exception {
    return Schema.fromString(json.isTextual() ? json.textValue() : json.toString());
  }

  /** As the controller does for each task (`TaskConfigUtils`), which needs a running controller for the rest. */
  private static void checkSchedules(TableConfig config) {
    if (config.getTaskConfig() == null) {
      return;
    }
    for (Map<String, String> task : config.getTaskConfig().getTaskTypeConfigsMap().values()) {
      if (task.containsKey("schedule")) {
        CronScheduleBuilder.cronSchedule(task.get("schedule"));
      }
    }
  }

  private static TableConfig readTable(JsonNode json)
      throws Exception {
    return JsonUtils.stringToObject(json.isTextual() ? json.textValue() : json.toString(), TableConfig.class);
  }

  private static String text(JsonNode asked, String key) {
    JsonNode value = asked.get(key);
    return value.isTextual() ? value.textValue() : value.toString();
  }
}
