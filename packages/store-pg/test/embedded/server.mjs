// Runs an embedded Postgres in the folder of its argument, prints the connection string, and stops Postgres when the
// process ends.
import { startServer } from "@workshop/store-pg/embedded"
import { Deferred, Effect } from "effect"

const stopped = Effect.runSync(Deferred.make())
process.on("SIGTERM", () => Effect.runSync(Deferred.succeed(stopped, undefined)))
await Effect.runPromise(
  startServer({ dataDir: String(process.argv[2]) }).pipe(
    Effect.flatMap(({ url }) => Effect.sync(() => console.log(url))),
    Effect.zipRight(Deferred.await(stopped)),
    Effect.scoped,
    Effect.catchAll(({ message }) => Effect.sync(() => console.log(message)))
  )
)
process.exit()
