import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;

/** Hive's metastore, in whose new database also the tables of locks are. */
public final class Metastore {
  private Metastore() {
  }

  public static void main(String[] args)
      throws Throwable {
    TxnDbUtil.prepDb(new HiveConf());
    HiveMetaStore.main(args);
  }
}
