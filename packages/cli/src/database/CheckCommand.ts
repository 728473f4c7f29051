import type { CheckResult, InvariantViolation } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { command, jsonFlag, valueFlag } from "../terminal/commands.js"
import { duration } from "../terminal/decoders.js"
import type { Output } from "../terminal/Output.js"
import { cellsIn } from "./cellsIn.js"
import { choiceOf, databaseAddressFlags, databaseUrlOf, servedDataDir, storeRefusal } from "./StoreChoice.js"

const checkOptions = {
  ...databaseAddressFlags(
    "The Postgres database, or a replica of it. The default is the embedded Postgres in --data-dir."
  ),
  dataDir: servedDataDir,
  timeout: valueFlag("--timeout <duration>", "How long each check may take.", {
    decoder: duration,
    fallback: "5m",
    variable: "WORKSHOP_CHECK_TIMEOUT"
  }),
  json: jsonFlag
}

const rowLine = (row: InvariantViolation["first"][number]): string =>
  `  ${Object.entries(row)
    .map(([column, value]) => `${column}=${value}`)
    .join(" ")}`

const findingLines = ({ cell, name, finds, count, first }: InvariantViolation): ReadonlyArray<string> => [
  `${cell === undefined ? "" : `${cell}: `}${name}: ${finds} (${count}).`,
  ...first.map(rowLine),
  ...(count > first.length ? [`  and ${count - first.length} more`] : [])
]

const findingsOutput = (result: CheckResult): Output => ({
  data: result,
  lines: () =>
    result.findings.length === 0
      ? [`${result.checks} checks found nothing wrong.`]
      : result.findings.flatMap(findingLines)
})

/** `workshop check`: checks that the stored data are consistent. It succeeds only if they are. */
export const checkCommand = command({
  name: "check",
  examples: ["workshop check", "DATABASE_URL_FILE=/run/secrets/replica-url workshop check --json"],
  options: checkOptions,
  run: ({ timeout, json, ...flags }) =>
    Effect.gen(function* () {
      const { checkData } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
      const { printOutput } = yield* Effect.promise(() => import("../terminal/Output.js"))
      const url = yield* databaseUrlOf({ ...choiceOf({ ...flags, noMigrate: true }), isShared: true })
      const result = yield* Effect.mapError(
        Effect.flatMap(cellsIn(flags), (cells) => checkData(url, { ...cells, timeoutMs: timeout })),
        storeRefusal
      )
      yield* printOutput(findingsOutput(result), json)
      const { length } = result.findings
      if (length > 0)
        return yield* refuse(
          `${length} of ${result.checks} checks found something wrong. See "Check the data" in docs/operating.md.`
        )
    }).pipe(Effect.scoped)
})
