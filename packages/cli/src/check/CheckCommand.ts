import type { Checked, Finding } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { CommandRefused } from "../CommandRefused.js"
import { choiceOf, databaseOf, databaseUrlFlag, schemaFlag, servedDataDir, storeRefused } from "../StoreChoice.js"
import { command, json, value } from "../terminal/commands.js"
import { duration } from "../terminal/decoders.js"
import type { Output } from "../terminal/Output.js"

const options = {
  databaseUrl: databaseUrlFlag(
    "The Postgres database, or a replica of it; without one, what workshop serve keeps in --data-dir."
  ),
  schema: schemaFlag,
  dataDir: servedDataDir,
  timeout: value({
    flag: "--timeout <duration>",
    description: "How long one check may take.",
    decoder: duration,
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

const report = (checked: Checked): Output => ({
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
export const checkCommand = command({
  name: "check",
  examples: ["workshop check", "DATABASE_URL_FILE=/run/secrets/replica-url workshop check --json"],
  options,
  run: ({ timeout, json, ...flags }) =>
    Effect.gen(function* () {
      const { checkData } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
      const { printOutput } = yield* Effect.promise(() => import("../terminal/Output.js"))
      const url = yield* databaseOf({ ...choiceOf({ ...flags, noMigrate: true }), isShared: true })
      const checked = yield* Effect.mapError(
        checkData(url, timeout, { schema: flags.schema ?? undefined }),
        storeRefused
      )
      yield* printOutput(report(checked), json)
      if (checked.findings.length > 0) return yield* damaged(checked)
    }).pipe(Effect.scoped)
})
