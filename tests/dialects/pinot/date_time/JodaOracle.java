import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.joda.time.DateTimeZone;
import org.joda.time.format.DateTimeFormat;
import org.joda.time.format.DateTimeFormatter;

/**
 * Joda as a filter. A line is `read|write`, a pattern, a zone and a value, with tabs between; the answer is `=` and
 * what Joda gives, or `!` and its message.
 */
public class JodaOracle {
  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, false, "UTF-8");
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] asked = line.split("\t", -1);
      out.print(answer(asked[0], asked[1], asked[2], asked[3]).replace('\n', ' '));
      out.print('\n');
    }
    out.flush();
  }

  private static String answer(String what, String pattern, String zone, String value) {
    try {
      DateTimeFormatter formatter =
          DateTimeFormat.forPattern(pattern).withZone(DateTimeZone.forID(zone)).withLocale(Locale.ENGLISH);
      if (what.equals("read")) {
        return "=" + formatter.parseMillis(value);
      }
      return "=" + formatter.print(Long.parseLong(value));
    } catch (IllegalArgumentException | ArithmeticException | UnsupportedOperationException error) {
      return "!" + error.getMessage();
    }
  }
}
