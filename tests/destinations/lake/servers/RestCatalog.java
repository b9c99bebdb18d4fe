import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/** Iceberg's own REST catalog of tables in a folder, on a port of loopback that it prints, until standard input ends. */
public final class RestCatalog {
  private RestCatalog() {
  }

  public static void main(String[] args)
      throws Exception {
    JdbcCatalog catalog = new JdbcCatalog();
    catalog.setConf(new Configuration());
    catalog.initialize("rest", Map.of(
        CatalogProperties.WAREHOUSE_LOCATION, args[0],
        CatalogProperties.FILE_IO_IMPL, "org.apache.iceberg.hadoop.HadoopFileIO",
        CatalogProperties.URI, "jdbc:sqlite::memory:",
        CatalogProperties.CLIENT_POOL_SIZE, "1",
        "jdbc.schema-version", "V1"));
    ServletContextHandler servlets = new ServletContextHandler();
    servlets.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    Server server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    server.setHandler(servlets);
    server.start();
    System.out.println(server.getURI().getPort());
    System.in.transferTo(OutputStream.nullOutputStream());
    server.stop();
  }
}
