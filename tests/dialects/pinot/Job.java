import java.util.Map;
import org.apache.pinot.spi.ingestion.batch.IngestionJobLauncher;

/** Runs an ingestion job specification, as `pinot-admin LaunchDataIngestionJob` does. */
public final class Job {
  private Job() {
  }

  public static void main(String[] args) {
    IngestionJobLauncher.runIngestionJob(
        IngestionJobLauncher.getSegmentGenerationJobSpec(args[0], null, Map.of(), Map.of()));
    System.exit(0);
  }
}
