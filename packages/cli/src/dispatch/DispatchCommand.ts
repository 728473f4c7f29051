import { Command } from "@effect/cli"
import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { dispatchOptions } from "./DispatchOptions.js"

const refused = new CommandRefused({
  message:
    "workshop dispatch works on a database that workshop serve --no-dispatcher uses: name it with --database-url."
})

/** `workshop dispatch` (Specification, Commands): deliveries, closures and messages alone, as many processes as wanted. */
export const dispatchCommand = Command.make("dispatch", dispatchOptions, (asked) =>
  Effect.gen(function* () {
    const { databaseUrl, noMigrate, keepEvents, secretsKey: secretsKeys } = asked
    if (databaseUrl === null) return yield* refused
    const { dispatch } = yield* Effect.promise(() => import("./dispatch.js"))
    return yield* dispatch({ ...asked, databaseUrl, migrate: !noMigrate, keepEvents_ms: keepEvents, secretsKeys })
  })
).pipe(Command.withDescription("Deliver and close what is due in a database, until SIGTERM or SIGINT"))
