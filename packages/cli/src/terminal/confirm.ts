import { createInterface } from "node:readline"
import { Console, Context, Effect } from "effect"
import { type CommandRefused, refuse } from "../CommandRefused.js"

const NOTHING_CHANGED = "Nothing was changed."

/**
 * Asks a question in the terminal. Returns the typed answer, an empty one at the end of the input, or null without a
 * terminal.
 */
const askInTerminal = (question: string): Effect.Effect<string | null> =>
  process.stdin.isTTY === true
    ? Effect.acquireUseRelease(
        Effect.sync(() => createInterface({ input: process.stdin, output: process.stderr })),
        (lines) =>
          Effect.async<string>((resume) => {
            // The process sends itself SIGINT, because readline treats Ctrl-C as a key and would not stop the process.
            lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"))
            // After Ctrl-D a line break is printed, because the cursor is still on the line of the question.
            lines.once("close", () => resume(Effect.as(Console.error(), "")))
            lines.question(question, (answer) => resume(Effect.succeed(answer)))
          }).pipe(Effect.onInterrupt(() => Console.error(`\n${NOTHING_CHANGED}`))),
        (lines) => Effect.sync(() => lines.close())
      )
    : Effect.succeed(null)

/** Asks the person at the terminal to confirm; a test replaces it. */
export class Asker extends Context.Reference<Asker>()("@workshop/cli/Asker", { defaultValue: () => askInTerminal }) {}

/** Fails unless a flag or a typed `yes` confirms. `what` is a sentence that says what will happen. */
export const confirm = (what: string, isWanted: boolean, flag = "--yes"): Effect.Effect<void, CommandRefused> =>
  Effect.gen(function* () {
    if (isWanted) return
    const ask = yield* Asker
    const answer = yield* ask(`${what} Continue? [y/N] `)
    if (answer === null) {
      return yield* refuse(
        `${what.replace(/\.$/, "")}. There is no terminal in which to confirm this, so add ${flag} to confirm it.`
      )
    }
    if (!/^\s*y(es)?\s*$/i.test(answer)) return yield* refuse(NOTHING_CHANGED)
  })
