// Arguments: a resolver configuration, VENDOR, NAME, then data that describes itself. Prints the list, and for each
// piece of data whether it is valid.
import cats.Id
import com.snowplowanalytics.iglu.client.Client
import com.snowplowanalytics.iglu.core.SelfDescribingData
import com.snowplowanalytics.iglu.core.circe.implicits._
import cats.effect.{Clock, IO}
import io.circe.parser.parse
import com.snowplowanalytics.iglu.client.resolver.registries.RegistryLookup._
import scala.concurrent.ExecutionContext

object Lookup {
  def main(args: Array[String]): Unit = {
    implicit val clock: Clock[IO] = Clock.create[IO]
    val configuration = parse(args(0)).fold(throw _, identity)
    val client = Client.parseDefault[IO](configuration).value.unsafeRunSync().fold(throw _, identity)
    println(client.resolver.listSchemas(args(1), args(2), 1).unsafeRunSync()
      .fold(error => s"no list: $error", list => list.schemas.map(_.version.asString).mkString("list ", " ", "")))
    for (text <- args.drop(3)) {
      val data = SelfDescribingData.parse(parse(text).fold(throw _, identity)).fold(error => sys.error(error.code), identity)
      println(client.check(data).value.unsafeRunSync().fold(
        error => error.getClass.getSimpleName, _ => "valid"))
    }
  }
}
