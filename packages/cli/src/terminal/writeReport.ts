import { open } from "node:fs/promises"
import { Effect } from "effect"
import { CommandRefused } from "../CommandRefused.js"

const OWNER_ONLY = 0o600

const write = async (file: string, report: string): Promise<void> => {
  const handle = await open(file, "w", OWNER_ONLY)
  try {
    // A file that was there has the mode of its first day.
    if ((await handle.stat()).isFile()) await handle.chmod(OWNER_ONLY)
    await handle.writeFile(report)
  } finally {
    await handle.close()
  }
}

/** Writes a report to the file that a flag such as `--html` names. Reports hold a shop's data, so only their owner may read them. */
export const writeReport = (flag: string, file: string, report: string): Effect.Effect<void, CommandRefused> =>
  Effect.tryPromise({
    try: () => write(file, report),
    catch: (cause) =>
      new CommandRefused({ message: `${file} cannot be written (${String(cause)}): name another file with ${flag}.` })
  })
