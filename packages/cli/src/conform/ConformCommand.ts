import { Command } from "@effect/cli"
import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { conformOptions } from "./ConformOptions.js"

/** `workshop conform` (Specification, Commands). The cases are loaded once they are to run. */
export const conformCommand = Command.make("conform", conformOptions, (asked) =>
  Effect.gen(function* () {
    const { conform, listing } = yield* Effect.promise(() => import("./conform.js"))
    if (asked.list) return yield* listing(asked)
    if (asked.baseUrl === null) {
      return yield* new CommandRefused({
        message: "Say which server to test, such as --base-url http://127.0.0.1:4010; --list shows the cases."
      })
    }
    return yield* conform(asked, asked.baseUrl)
  })
).pipe(Command.withDescription("Test any server of this specification, rule by rule"))
