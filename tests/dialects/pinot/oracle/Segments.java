import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.apache.pinot.common.datatable.DataTable;
import org.apache.pinot.common.datatable.DataTableFactory;
import org.apache.pinot.common.metrics.BrokerMetrics;
import org.apache.pinot.common.request.BrokerRequest;
import org.apache.pinot.common.request.PinotQuery;
import org.apache.pinot.common.response.broker.BrokerResponseNative;
import org.apache.pinot.common.response.broker.ResultTable;
import org.apache.pinot.core.plan.maker.InstancePlanMakerImplV2;
import org.apache.pinot.core.query.optimizer.QueryOptimizer;
import org.apache.pinot.core.query.reduce.BrokerReduceService;
import org.apache.pinot.core.query.request.context.QueryContext;
import org.apache.pinot.core.query.request.context.utils.QueryContextConverterUtils;
import org.apache.pinot.core.transport.ServerRoutingInstance;
import org.apache.pinot.segment.local.indexsegment.immutable.ImmutableSegmentLoader;
import org.apache.pinot.segment.local.segment.creator.impl.SegmentIndexCreationDriverImpl;
import org.apache.pinot.segment.local.segment.index.loader.IndexLoadingConfig;
import org.apache.pinot.segment.local.segment.readers.GenericRowRecordReader;
import org.apache.pinot.segment.spi.ImmutableSegment;
import org.apache.pinot.segment.spi.SegmentContext;
import org.apache.pinot.segment.spi.creator.SegmentGeneratorConfig;
import org.apache.pinot.spi.config.table.TableConfig;
import org.apache.pinot.spi.config.table.TableType;
import org.apache.pinot.spi.data.Schema;
import org.apache.pinot.spi.data.readers.GenericRow;
import org.apache.pinot.spi.env.PinotConfiguration;
import org.apache.pinot.spi.metrics.PinotMetricUtils;
import org.apache.pinot.spi.query.QueryThreadContext;
import org.apache.pinot.sql.parsers.CalciteSqlCompiler;
import org.apache.pinot.sql.parsers.CalciteSqlParser;

/** Segments on disk and queries over them: what a server and a broker do, without the cluster. */
final class Segments {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final ExecutorService _threads = Executors.newFixedThreadPool(2, job -> {
    Thread thread = new Thread(job);
    thread.setDaemon(true);
    return thread;
  });
  private final BrokerReduceService _broker;

  Segments() {
    _broker = new BrokerReduceService(new PinotConfiguration(Map.of("pinot.broker.max.reduce.threads.per.query", 1)));
  }

  /**
   * Builds one segment of each batch of rows under the schema of that batch, loads all under the last
   * schema, as a reload does, and answers the query.
   */
  JsonNode query(TableConfig table, List<Schema> schemas, List<List<GenericRow>> batches, String sql)
      throws Exception {
    Path folder = Files.createTempDirectory("pinot-oracle");
    List<ImmutableSegment> segments = new ArrayList<>();
    try {
      Schema last = schemas.get(schemas.size() - 1);
      for (int i = 0; i < batches.size(); i++) {
        String name = table.getTableName() + "_" + i;
        build(folder, name, table, schemas.get(i), batches.get(i));
        segments.add(
            ImmutableSegmentLoader.load(folder.resolve(name).toFile(), new IndexLoadingConfig(table, last)));
      }
      BrokerResponseNative response = respond(segments, last, sql);
      if (response.getExceptionsSize() > 0) {
        throw new IllegalStateException(response.getExceptions().get(0).getMessage());
      }
      return table(response.getResultTable());
    } finally {
      segments.forEach(ImmutableSegment::destroy);
      try (Stream<Path> files = Files.walk(folder)) {
        files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(java.io.File::delete);
      }
    }
  }

  private static void build(Path folder, String name, TableConfig table, Schema schema, List<GenericRow> rows)
      throws Exception {
    SegmentGeneratorConfig config = new SegmentGeneratorConfig(table, schema);
    config.setOutDir(folder.toString());
    config.setSegmentName(name);
    SegmentIndexCreationDriverImpl driver = new SegmentIndexCreationDriverImpl();
    driver.init(config, new GenericRowRecordReader(rows));
    driver.build();
  }

  /** The name of the table that a query reads. */
  static String tableOf(String sql) {
    return CalciteSqlParser.compileToPinotQuery(sql).getDataSource().getTableName();
  }

  /** The broker's answer to a query over segments that are loaded. */
  BrokerResponseNative respond(List<ImmutableSegment> segments, Schema schema, String sql)
      throws Exception {
    PinotQuery query = CalciteSqlParser.compileToPinotQuery(sql);
    new QueryOptimizer().optimize(query, schema);
    BrokerRequest request = CalciteSqlCompiler.convertToBrokerRequest(query);
    QueryContext context = QueryContextConverterUtils.getQueryContext(query);
    context.setSchema(schema);
    context.setEndTimeMs(System.currentTimeMillis() + 60_000);
    List<SegmentContext> contexts = new ArrayList<>();
    segments.forEach(segment -> contexts.add(new SegmentContext(segment)));
    InstancePlanMakerImplV2 maker = new InstancePlanMakerImplV2();
    maker.init(new PinotConfiguration());
    try (QueryThreadContext ignored = QueryThreadContext.openForSseTest()) {
      byte[] bytes = maker.makeInstancePlan(contexts, context, _threads).execute().toDataTable().toBytes();
      Map<ServerRoutingInstance, DataTable> tables = new HashMap<>();
      tables.put(new ServerRoutingInstance("127.0.0.1", 1, TableType.OFFLINE), DataTableFactory.getDataTable(bytes));
      BrokerMetrics metrics = new BrokerMetrics(PinotMetricUtils.getPinotMetricsRegistry());
      return _broker.reduceOnDataTable(request, request, tables, 60_000, metrics);
    }
  }

  private static JsonNode table(ResultTable result) {
    ObjectNode answer = JSON.objectNode();
    ArrayNode names = answer.putArray("columns");
    ArrayNode types = answer.putArray("types");
    for (String name : result.getDataSchema().getColumnNames()) {
      names.add(name);
    }
    for (Object type : result.getDataSchema().getColumnDataTypes()) {
      types.add(type.toString());
    }
    ArrayNode rows = answer.putArray("rows");
    for (Object[] row : result.getRows()) {
      ArrayNode written = rows.addArray();
      for (Object value : row) {
        written.add(Values.write(value));
      }
    }
    return answer;
  }
}
