import { writeFile } from "node:fs/promises"
import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"

/** Writes a report to the file that a flag such as `--html` names. */
export const writeReport = (flag: string, file: string, report: string): Effect.Effect<void, CommandRefused> =>
  Effect.tryPromise({
    try: () => writeFile(file, report),
    catch: (cause) =>
      new CommandRefused({ message: `${file} cannot be written (${String(cause)}): name another file with ${flag}.` })
  })
