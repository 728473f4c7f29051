import { createInterface } from "node:readline"
import { Console, Context, Effect } from "effect"
import { type CommandRefused, refuse } from "../CommandRefused.js"

const NOTHING_CHANGED = "Nothing was changed."

/** Asks a question in the terminal. Returns the typed answer, an empty one at the end of the input, or null without a terminal. */
const inTerminal = (question: string): Effect.Effect<string | null> =>
  process.stdin.isTTY === true
    ? Effect.acquireUseRelease(
        Effect.sync(() => createInterface({ input: process.stdin, output: process.stderr })),
        (lines) =>
          Effect.async<string>((resume) => {
            // readline takes Ctrl-C for a key: the process is to be stopped as by any other SIGINT.
            lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
            // Ctrl-D: the cursor still stands after the question.
            lines.once("close", () => resume(Effect.as(Console.error(), "")))
            lines.question(question, (answer) => resume(Effect.succeed(answer)))
          }).pipe(Effect.onInterrupt(() => Console.error(`\n${NOTHING_CHANGED}`))),
        (lines) => Effect.sync(() => lines.close())
      )
    : Effect.succeed(null)

/** The person at the terminal, who is asked before something is destroyed; a test answers in their place. */
export class Asker extends Context.Reference<Asker>()("@workshop/cli/Asker", { defaultValue: () => inTerminal }) {}

/** Refuses unless a flag or a typed yes confirms. `what` is a sentence that says what will happen. */
export const confirm = (what: string, isWanted: boolean, flag = "--yes"): Effect.Effect<void, CommandRefused> =>
  Effect.gen(function* () {
    if (isWanted) return
    const ask = yield* Asker
    const answer = yield* ask(`${what} Go on? [y/N] `)
    if (answer === null) {
      return yield* refuse(`${what.replace(/\.$/, "")}. Add ${flag}, because there is no terminal to confirm it.`)
    }
    if (!/^\s*y(es)?\s*$/i.test(answer)) return yield* refuse(NOTHING_CHANGED)
  })
