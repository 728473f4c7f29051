import { Command } from "@effect/cli"
import { Console, Effect } from "effect"
import { CommandRefused } from "./OneSentence.js"
import { json, value } from "./terminal/Flags.js"
import { optional, text } from "./terminal/Readers.js"

const migrateOptions = {
  databaseUrl: value({
    name: "database-url",
    placeholder: "url",
    description:
      "The Postgres database; its role may create tables. Without one, what workshop serve keeps in --data-dir.",
    read: optional(text),
    fallback: "",
    variable: "DATABASE_URL"
  }),
  dataDir: value({
    name: "data-dir",
    placeholder: "folder",
    description: "Where workshop serve keeps its own database.",
    read: text,
    fallback: ".workshop"
  }),
  json
}

const refused = ({ message }: { readonly message: string }) => new CommandRefused({ message })

const sharedIn = (dataDir: string) =>
  Effect.flatMap(
    Effect.promise(() => import("@workshop/store-pg/embedded/EmbeddedPostgres")),
    ({ share }) => share({ dataDir })
  )

/** `workshop migrate` (contract §11): safe to run twice, and from two places at once. */
export const migrateCommand = Command.make("migrate", migrateOptions, ({ databaseUrl, dataDir, json }) =>
  Effect.gen(function* () {
    const { migrate } = yield* Effect.promise(() => import("@workshop/store-pg/migrate/Migrator"))
    const url = databaseUrl ?? (yield* sharedIn(dataDir)).url
    const applied = yield* migrate(url)
    const said = applied.length === 0 ? "The database was up to date." : `Applied ${applied.join(", ")}.`
    yield* Console.log(json ? JSON.stringify({ applied }) : said)
  }).pipe(Effect.scoped, Effect.mapError(refused))
).pipe(Command.withDescription("Bring a Postgres database to the current schema"))
