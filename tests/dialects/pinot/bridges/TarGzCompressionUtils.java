package org.apache.pinot.common.utils;

import java.io.File;
import java.io.IOException;

/** The name by which the job of 0.11.0 knows what is TarCompressionUtils in 1.5.1. */
public final class TarGzCompressionUtils {
  private TarGzCompressionUtils() {
  }

  public static void createTarGzFile(File folder, File packed)
      throws IOException {
    TarCompressionUtils.createCompressedTarFile(folder, packed);
  }
}
