import type { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { examples } from "./examples.js"

/** Refuses a command that only gathers others, such as `workshop shop`: one of them is to be named. */
export const nameOne = (command: string): Effect.Effect<never, CommandRefused> =>
  new CommandRefused({
    message: `Name what to do, such as ${examples[command]?.at(-1) ?? "create"}; workshop ${command} --help lists all.`
  })
