import { Command } from "@effect/cli"
import { Clock, Console, Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { judge } from "./judge.js"
import { readBody } from "./readBody.js"
import { verifyOptions } from "./verifyOptions.js"

/** `workshop verify` (Specification, Commands): succeeds only where the signature is good. */
export const verifyCommand = Command.make("verify", verifyOptions, (asked) =>
  Effect.gen(function* () {
    const { secret: secrets, signature, tolerance: tolerance_ms } = asked
    if (secrets.length === 0) {
      return yield* new CommandRefused({ message: "Set WORKSHOP_SECRET to the webhook's secret." })
    }
    const at = asked.at ?? (yield* Clock.currentTimeMillis)
    const verdict = yield* judge({ body: yield* readBody(asked.file), signature, secrets, tolerance_ms, at })
    if (asked.json) yield* Console.log(JSON.stringify(verdict))
    else if (verdict.valid) yield* Console.log(verdict.sentence)
    return verdict.valid ? undefined : yield* new CommandRefused({ message: verdict.sentence })
  })
).pipe(Command.withDescription("Check a webhook's signature"))
