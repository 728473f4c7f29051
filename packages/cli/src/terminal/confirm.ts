import { createInterface } from "node:readline"
import { Context, Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"

/** Asks a question in the terminal; the answer as typed, null where nobody can answer. */
const inTerminal = (question: string): Effect.Effect<string | null> =>
  process.stdin.isTTY === true
    ? Effect.async<string>((resume) => {
        const lines = createInterface({ input: process.stdin, output: process.stderr })
        lines.on("SIGINT", () => resume(Effect.interrupt))
        lines.question(question, (answer) => resume(Effect.succeed(answer)))
        return Effect.sync(() => lines.close())
      }).pipe(Effect.ensuring(Effect.sync(() => process.stdin.pause())))
    : Effect.succeed(null)

/** Who is asked before something is destroyed: the person at the terminal, unless a test answers in their place. */
export class Asker extends Context.Reference<Asker>()("@workshop/cli/Asker", { defaultValue: () => inTerminal }) {}

/** Goes on only where it is wanted: by a flag, or a yes typed in the terminal. `what` says what will happen, as a sentence. */
export const confirm = (what: string, isWanted: boolean, flag = "--yes"): Effect.Effect<void, CommandRefused> =>
  Effect.gen(function* () {
    if (isWanted) return
    const ask = yield* Asker
    const answer = yield* ask(`${what} Go on? [y/N] `)
    if (answer === null) {
      return yield* new CommandRefused({
        message: `${what.replace(/\.$/, "")}: add ${flag}, as nobody can be asked here.`
      })
    }
    if (!/^\s*y(es)?\s*$/i.test(answer)) return yield* new CommandRefused({ message: "Nothing was changed." })
  })
