import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.pinot.controller.ControllerStarter;
import org.apache.pinot.controller.helix.core.PinotHelixResourceManager;
import org.apache.pinot.spi.config.instance.Instance;
import org.apache.pinot.spi.config.instance.InstanceType;
import org.apache.pinot.spi.env.PinotConfiguration;
import org.apache.pinot.spi.utils.JsonUtils;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper and a Pinot controller in one process, on loopback, until standard input ends. */
public final class Controller {
  private static final String CLUSTER = "trellis";

  private Controller() {
  }

  public static void main(String[] args)
      throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    File folder = new File(args[0]);
    String controllerPort = freePort();

    ZooKeeperServer zookeeper =
        new ZooKeeperServer(new File(folder, "zookeeper"), new File(folder, "zookeeper"), 2000);
    NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
    connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 60);
    connections.startup(zookeeper);
    String zookeeperAddress = "127.0.0.1:" + connections.getLocalPort();

    Map<String, Object> settings = new HashMap<>();
    settings.put("controller.helix.cluster.name", CLUSTER);
    settings.put("controller.zk.str", zookeeperAddress);
    settings.put("controller.host", "127.0.0.1");
    settings.put("controller.port", controllerPort);
    settings.put("controller.access.protocols", "http");
    settings.put("controller.access.protocols.http.host", "127.0.0.1");
    settings.put("controller.access.protocols.http.port", controllerPort);
    settings.put("controller.data.dir", new File(folder, "deepstore").toURI().toString());
    settings.put("controller.local.temp.dir", new File(folder, "temp").getPath());
    settings.put("controller.tenant.isolation.enable", "true");
    ControllerStarter controller = new ControllerStarter();
    controller.init(new PinotConfiguration(settings));
    controller.start();
    PinotHelixResourceManager resources = controller.getHelixResourceManager();
    resources.addInstance(instance(1, InstanceType.BROKER, "DefaultTenant_BROKER"), false);
    resources.addInstance(instance(2, InstanceType.SERVER, "DefaultTenant_OFFLINE"), false);
    int brokerPort =
        new SegmentHost(new File(folder, "segments"), CLUSTER, "Server_127.0.0.1_2", zookeeperAddress).start();
    answers.println(JsonUtils.objectToString(
        Map.of("controller", controllerPort, "broker", String.valueOf(brokerPort))));

    while (System.in.read() >= 0) {
      continue;
    }
    Runtime.getRuntime().halt(0);
  }

  private static Instance instance(int port, InstanceType type, String tag) {
    return new Instance("127.0.0.1", port, type, List.of(tag), null, 0, 0, 0, 0, false);
  }

  private static String freePort()
      throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return String.valueOf(socket.getLocalPort());
    }
  }
}
