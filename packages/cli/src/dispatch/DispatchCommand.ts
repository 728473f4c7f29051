import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { command } from "../terminal/commands.js"
import { dispatchOptions } from "./DispatchOptions.js"

const refused = new CommandRefused({
  message:
    "workshop dispatch works on a database that workshop serve --no-dispatcher uses: name it with --database-url."
})

/** `workshop dispatch` (Specification, Commands): deliveries, closures and messages alone, as many processes as wanted. */
export const dispatchCommand = command({
  name: "dispatch",
  description: "Deliver and close what is due in a database, until SIGTERM or SIGINT",
  examples: ["DATABASE_URL_FILE=/run/secrets/database-url workshop dispatch"],
  options: dispatchOptions,
  run: ({ databaseUrl, noMigrate, keepEvents, secretsKey: secretsKeys, ...flags }) =>
    Effect.gen(function* () {
      if (databaseUrl === null) return yield* refused
      const { dispatch } = yield* Effect.promise(() => import("./dispatch.js"))
      return yield* dispatch({ ...flags, databaseUrl, migrate: !noMigrate, keepEvents_ms: keepEvents, secretsKeys })
    })
})
