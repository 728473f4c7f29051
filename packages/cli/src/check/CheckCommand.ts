import { Command } from "@effect/cli"
import type { Checked, Finding } from "@workshop/store-pg/check/checkData"
import { Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { choiceOf, databaseOf } from "../StoreChoice.js"
import { databaseUrlFlag, servedDataDir } from "../StoreFlags.js"
import { storeRefused } from "../StoreRefused.js"
import { json, value } from "../terminal/Flags.js"
import { duration } from "../terminal/Readers.js"
import type { Said } from "../terminal/Said.js"

const options = {
  databaseUrl: databaseUrlFlag(
    "The Postgres database, or a replica of it; without one, what workshop serve keeps in --data-dir."
  ),
  dataDir: servedDataDir,
  timeout: value({
    name: "timeout",
    placeholder: "duration",
    description: "How long one check may take.",
    read: duration,
    fallback: "5m",
    variable: "WORKSHOP_CHECK_TIMEOUT"
  }),
  json
}

const rowLine = (row: Finding["first"][number]): string =>
  `  ${Object.entries(row)
    .map(([column, value]) => `${column}=${value}`)
    .join(" ")}`

const findingLines = ({ name, finds, count, first }: Finding): ReadonlyArray<string> => [
  `${name}: ${finds} (${count}).`,
  ...first.map(rowLine),
  ...(count > first.length ? [`  and ${count - first.length} more`] : [])
]

const report = (checked: Checked): Said => ({
  data: checked,
  lines: () =>
    checked.findings.length === 0
      ? [`${checked.checks} checks found nothing wrong.`]
      : checked.findings.flatMap(findingLines)
})

const damaged = ({ checks, findings }: Checked) =>
  new CommandRefused({
    message: `${findings.length} of ${checks} checks found something wrong: see "Check the data" in docs/operating.md.`
  })

/** `workshop check`: whether what the program keeps of its data holds. Succeeds only where it does. */
export const checkCommand = Command.make("check", options, ({ timeout, json, ...asked }) =>
  Effect.gen(function* () {
    const { checkData } = yield* Effect.promise(() => import("@workshop/store-pg/check/checkData"))
    const { say } = yield* Effect.promise(() => import("../terminal/Said.js"))
    const url = yield* databaseOf({ ...choiceOf({ ...asked, noMigrate: true }), isShared: true })
    const checked = yield* Effect.mapError(checkData(url, timeout), storeRefused)
    yield* say(report(checked), json)
    if (checked.findings.length > 0) return yield* damaged(checked)
  }).pipe(Effect.scoped)
).pipe(Command.withDescription("Check that the data in a database are consistent, and change nothing"))
