import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.apache.helix.HelixManager;
import org.apache.helix.HelixManagerFactory;
import org.apache.helix.InstanceType;
import org.apache.helix.NotificationContext;
import org.apache.helix.messaging.handling.HelixTaskResult;
import org.apache.helix.messaging.handling.MessageHandler;
import org.apache.helix.messaging.handling.MultiTypeMessageHandlerFactory;
import org.apache.helix.model.Message;
import org.apache.helix.participant.statemachine.StateModel;
import org.apache.helix.participant.statemachine.StateModelFactory;
import org.apache.helix.participant.statemachine.StateModelInfo;
import org.apache.helix.participant.statemachine.Transition;
import org.apache.helix.store.zk.ZkHelixPropertyStore;
import org.apache.helix.zookeeper.datamodel.ZNRecord;
import org.apache.pinot.common.messages.SegmentReloadMessage;
import org.apache.pinot.common.metadata.ZKMetadataProvider;
import org.apache.pinot.common.metadata.segment.SegmentZKMetadata;
import org.apache.pinot.common.utils.TarCompressionUtils;
import org.apache.pinot.segment.local.indexsegment.immutable.ImmutableSegmentLoader;
import org.apache.pinot.segment.local.segment.index.loader.IndexLoadingConfig;
import org.apache.pinot.segment.spi.ImmutableSegment;
import org.apache.pinot.spi.config.table.TableConfig;
import org.apache.pinot.spi.data.Schema;
import org.apache.pinot.spi.utils.JsonUtils;

/**
 * What of a server and a broker the tests need, on Pinot's own engine: loads the segments that the controller
 * assigns, reloads them when it says so, and answers POST /query/sql. It is not Pinot's server, which is not
 * published: one replica, OFFLINE tables, the single-stage engine.
 */
final class SegmentHost {
  private final File _folder;
  private final HelixManager _helix;
  private final HttpServer _http;
  private final Segments _engine = new Segments();
  private final Map<String, Map<String, ImmutableSegment>> _tables = new ConcurrentHashMap<>();
  private volatile int _reloads;

  SegmentHost(File folder, String cluster, String instance, String zookeeper)
      throws Exception {
    _folder = folder;
    _helix = HelixManagerFactory.getZKHelixManager(cluster, instance, InstanceType.PARTICIPANT, zookeeper);
    _http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  /** Joins the cluster; the port that queries go to. */
  int start()
      throws Exception {
    _helix.getStateMachineEngine().registerStateModelFactory("SegmentOnlineOfflineStateModel", new Factory());
    _helix.getMessagingService().registerMessageHandlerFactory("USER_DEFINE_MSG", new Commands());
    _helix.connect();
    _http.createContext("/query/sql", this::serve);
    _http.createContext("/reloads", exchange -> send(exchange, String.valueOf(_reloads).getBytes()));
    _http.setExecutor(Executors.newSingleThreadExecutor());
    _http.start();
    return _http.getAddress().getPort();
  }

  private void serve(HttpExchange exchange)
      throws IOException {
    byte[] answer;
    try (InputStream body = exchange.getRequestBody()) {
      answer = answer(JsonUtils.inputStreamToJsonNode(body).get("sql").asText());
    } catch (Exception failure) {
      answer = JsonUtils.objectToBytes(Map.of("exceptions",
          List.of(Map.of("errorCode", 200, "message", String.valueOf(failure.getMessage())))));
    }
    send(exchange, answer);
  }

  private static void send(HttpExchange exchange, byte[] answer)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private synchronized byte[] answer(String sql)
      throws Exception {
    String table = Segments.tableOf(sql) + "_OFFLINE";
    TableConfig config = ZKMetadataProvider.getTableConfig(store(), table);
    if (config == null) {
      throw new IllegalArgumentException("no such table: " + table);
    }
    List<ImmutableSegment> segments = new ArrayList<>(_tables.getOrDefault(table, Map.of()).values());
    return _engine.respond(segments, ZKMetadataProvider.getTableSchema(store(), config), sql)
        .toJsonString().getBytes(StandardCharsets.UTF_8);
  }

  private ZkHelixPropertyStore<ZNRecord> store() {
    return _helix.getHelixPropertyStore();
  }

  private synchronized void fetch(String table, String name)
      throws Exception {
    SegmentZKMetadata metadata = ZKMetadataProvider.getSegmentZKMetadata(store(), table, name);
    URI url = URI.create(metadata.getDownloadUrl());
    File into = new File(new File(_folder, table), String.valueOf(System.nanoTime()));
    List<File> files;
    try (InputStream packed = url.toURL().openStream()) {
      files = TarCompressionUtils.untar(packed, into);
    }
    load(table, name, files.get(0));
  }

  private void load(String table, String name, File files)
      throws Exception {
    TableConfig config = ZKMetadataProvider.getTableConfig(store(), table);
    Schema schema = ZKMetadataProvider.getTableSchema(store(), config);
    ImmutableSegment loaded = ImmutableSegmentLoader.load(files, new IndexLoadingConfig(config, schema));
    ImmutableSegment replaced = segments(table).put(name, loaded);
    if (replaced != null) {
      replaced.destroy();
    }
  }

  private synchronized void reload(String table, List<String> names)
      throws Exception {
    for (String name : names) {
      load(table, name, segments(table).get(name).getSegmentMetadata().getIndexDir());
    }
  }

  private synchronized void drop(String table, String name) {
    ImmutableSegment dropped = segments(table).remove(name);
    if (dropped != null) {
      dropped.destroy();
    }
  }

  private Map<String, ImmutableSegment> segments(String table) {
    return _tables.computeIfAbsent(table, ignored -> new TreeMap<>());
  }

  private final class Factory extends StateModelFactory<StateModel> {
    @Override
    public StateModel createNewStateModel(String resource, String partition) {
      return new Segment();
    }
  }

  /** The life of one segment on this host. */
  @StateModelInfo(states = "{'OFFLINE','ONLINE','CONSUMING','DROPPED'}", initialState = "OFFLINE")
  public final class Segment extends StateModel {
    @Transition(from = "OFFLINE", to = "ONLINE")
    public void onBecomeOnlineFromOffline(Message message, NotificationContext context)
        throws Exception {
      fetch(message.getResourceName(), message.getPartitionName());
    }

    @Transition(from = "ONLINE", to = "OFFLINE")
    public void onBecomeOfflineFromOnline(Message message, NotificationContext context) {
      drop(message.getResourceName(), message.getPartitionName());
    }

    @Transition(from = "OFFLINE", to = "DROPPED")
    public void onBecomeDroppedFromOffline(Message message, NotificationContext context) {
    }

    @Transition(from = "ERROR", to = "OFFLINE")
    public void onBecomeOfflineFromError(Message message, NotificationContext context) {
    }
  }

  private final class Commands implements MultiTypeMessageHandlerFactory {
    @Override
    public MessageHandler createHandler(Message message, NotificationContext context) {
      return new Command(message, context);
    }

    @Override
    public List<String> getMessageTypes() {
      return List.of("USER_DEFINE_MSG");
    }

    @Override
    public void reset() {
    }
  }

  private final class Command extends MessageHandler {
    Command(Message message, NotificationContext context) {
      super(message, context);
    }

    @Override
    public HelixTaskResult handleMessage() {
      HelixTaskResult result = new HelixTaskResult();
      try {
        carryOut();
        result.setSuccess(true);
      } catch (Exception failure) {
        failure.printStackTrace();
        result.setSuccess(false);
        result.setException(failure);
      } finally {
        if ("RELOAD_SEGMENT".equals(_message.getMsgSubType())) {
          _reloads++;
        }
      }
      return result;
    }

    private void carryOut()
        throws Exception {
      String table = _message.getResourceName();
      switch (_message.getMsgSubType()) {
        case "RELOAD_SEGMENT":
          List<String> named = new SegmentReloadMessage(_message).getSegmentList();
          if (named == null) {
            String one = _message.getPartitionName();
            named = one == null || one.isEmpty() ? new ArrayList<>(segments(table).keySet()) : List.of(one);
          }
          reload(table, named);
          break;
        case "REFRESH_SEGMENT":
          fetch(table, _message.getPartitionName());
          break;
        default:
          break;
      }
    }

    @Override
    public void onError(Exception failure, ErrorCode code, ErrorType type) {
      System.err.println("command failed: " + failure);
    }
  }
}
