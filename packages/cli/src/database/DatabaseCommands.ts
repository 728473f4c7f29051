import { existsSync } from "node:fs"
import { resolve } from "node:path"
import type { Checked, Finding } from "@workshop/store-pg/migrate"
import { Console, Effect } from "effect"
import { refuse } from "../CommandRefused.js"
import { actingAs, actorFlag } from "../terminal/actor.js"
import { command, flagsOf, json, optional, toggle, value } from "../terminal/commands.js"
import { counted } from "../terminal/counted.js"
import { duration } from "../terminal/decoders.js"
import type { Output } from "../terminal/Output.js"
import { group } from "../terminal/program.js"
import {
  choiceOf,
  DEFAULT_FOLDER,
  databaseAddress,
  databaseOf,
  migrated,
  nameOf,
  secretsKey,
  servedDataDir,
  storeRefused
} from "./StoreChoice.js"

/** The cells that the flags name. */
const cellsIn = (flags: { readonly schema: string | null; readonly cells: string | null }) =>
  Effect.gen(function* () {
    const { cellsFrom } = yield* Effect.promise(() => import("@workshop/store-pg"))
    return { schema: flags.schema ?? undefined, cells: yield* cellsFrom(flags.cells ?? "") }
  })

const checkOptions = {
  ...databaseAddress("The Postgres database, or a replica of it; the default is the embedded one in --data-dir."),
  dataDir: servedDataDir,
  timeout: value("--timeout <duration>", "How long one check may take.", {
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

const findingLines = ({ cell, name, finds, count, first }: Finding): ReadonlyArray<string> => [
  `${cell === undefined ? "" : `${cell}: `}${name}: ${finds} (${count}).`,
  ...first.map(rowLine),
  ...(count > first.length ? [`  and ${count - first.length} more`] : [])
]

const findings = (checked: Checked): Output => ({
  data: checked,
  lines: () =>
    checked.findings.length === 0
      ? [`${checked.checks} checks found nothing wrong.`]
      : checked.findings.flatMap(findingLines)
})

/** `workshop check`: whether what the program keeps of its data holds. Succeeds only if it does. */
export const checkCommand = command({
  name: "check",
  examples: ["workshop check", "DATABASE_URL_FILE=/run/secrets/replica-url workshop check --json"],
  options: checkOptions,
  run: ({ timeout, json, ...flags }) =>
    Effect.gen(function* () {
      const { checkData } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
      const { printOutput } = yield* Effect.promise(() => import("../terminal/Output.js"))
      const url = yield* databaseOf({ ...choiceOf({ ...flags, noMigrate: true }), isShared: true })
      const checked = yield* Effect.mapError(
        Effect.flatMap(cellsIn(flags), (cells) => checkData(url, timeout, cells)),
        storeRefused
      )
      yield* printOutput(findings(checked), json)
      const { length } = checked.findings
      if (length > 0)
        return yield* refuse(
          `${length} of ${checked.checks} checks found something wrong: see "Check the data" in docs/operating.md.`
        )
    }).pipe(Effect.scoped)
})

const resealOptions = {
  ...databaseAddress("The Postgres database; the default is the embedded one in --data-dir."),
  dataDir: servedDataDir,
  secretsKey,
  inClear: toggle("in-clear", "Store all secrets in clear again, before a program runs that knows no keys."),
  actor: actorFlag,
  json
}

const inWords = (webhooks: string, key_id: string | null) =>
  key_id === null
    ? `${webhooks} changed; all secrets are stored in clear.`
    : `${webhooks} changed; all secrets are sealed with the key ${key_id}.`

const reseal = command({
  name: "reseal",
  description: "Encrypt all webhook secrets with the first key, including unencrypted ones",
  examples: [
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal",
    "WORKSHOP_SECRETS_KEY_FILE=/run/secrets/key workshop secrets reseal --in-clear"
  ],
  options: resealOptions,
  run: ({ secretsKey: secretsKeys, inClear, actor, json: asJson, ...flags }) =>
    Effect.gen(function* () {
      const { reseal } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
      const { printOutput, sentence } = yield* Effect.promise(() => import("../terminal/Output.js"))
      const url = yield* databaseOf({ ...choiceOf({ ...flags, noMigrate: true }), isShared: true })
      const done = yield* Effect.mapError(
        Effect.flatMap(cellsIn(flags), (cells) => reseal(url, { ...cells, secretsKeys, inClear })),
        storeRefused
      )
      const webhooks = counted(done.changed, "webhook")
      yield* printOutput(sentence(done, inWords(webhooks, done.key_id)), asJson)
    }).pipe(Effect.scoped, actingAs(actor))
})

/** `workshop secrets`: how webhook secrets are stored. */
export const secretsCommand = group(
  {
    name: "secrets",
    examples: ["WORKSHOP_SECRETS_KEY_FILE=/run/secrets/new-and-old-key workshop secrets reseal"]
  },
  [reseal]
)

const own = flagsOf("migrate")

const migrateOptions = {
  ...databaseAddress(
    "The Postgres database; its role may create tables. The default is the embedded one in --data-dir, if there is one."
  ),
  moveFrom: own.optional(
    "--move-from <schema>",
    "First move the tables to --schema from the schema in which an earlier release created them, usually public."
  ),
  whileRunning: own.toggle(
    "while-running",
    "Move the tables while processes of the earlier release are connected; needs the database's owner. Their connections are ended once."
  ),
  noCreateSchema: toggle(
    "no-create-schema",
    "Refuse a schema that has no tables of the workshop yet, such as a misspelt one, instead of making them."
  ),
  dataDir: optional(
    "--data-dir <folder>",
    "The folder of an embedded Postgres, which is created if it does not exist. The default is .workshop, if it exists."
  ).conflicts("databaseUrl"),
  roles: own.toggle(
    "roles",
    "Then grant the roles workshop_service and workshop_reader their rights, as roles.sql lists them. Run it as the owner of the tables."
  ),
  actor: actorFlag,
  json
}

/** The embedded Postgres. Only a folder that is named is made, so that a forgotten DATABASE_URL migrates no new database. */
const sharedIn = (dataDir: string | null) =>
  Effect.gen(function* () {
    const folder = dataDir ?? DEFAULT_FOLDER
    if (dataDir === null && !existsSync(folder))
      return yield* refuse(
        `No database is named, and there is no embedded one in ${resolve(folder)}: give --database-url, or set DATABASE_URL; or make an embedded one with --data-dir.`
      )
    const { share } = yield* Effect.promise(() => import("@workshop/store-pg/embedded"))
    const { url } = yield* share({ dataDir: folder })
    return { url, name: `The embedded Postgres in ${resolve(folder)}` }
  })

/** The migrations that were applied, a line for each cell: those of a further cell begin with its name and a colon. */
const appliedLines = (applied: ReadonlyArray<string>): string => {
  const byCell = new Map<string, Array<string>>()
  for (const one of applied) {
    const [, cell = "", name = one] = /^(\w+): (.+)$/.exec(one) ?? []
    byCell.set(cell, [...(byCell.get(cell) ?? []), name])
  }
  return Array.from(byCell, ([cell, names]) =>
    cell === ""
      ? `Applied ${names.join(", ")}.`
      : `Applied to the cell ${cell}: ${names.length > 1 ? `${names[0]} to ${names.at(-1)}` : names[0]}.`
  ).join("\n")
}

/** `workshop migrate` (Specification, Commands): safe to run twice, and from two places at once. */
export const migrateCommand = command({
  name: "migrate",
  examples: ["workshop migrate", "DATABASE_URL_FILE=/run/secrets/database-url workshop migrate --roles"],
  options: migrateOptions,
  run: ({ databaseUrl, dataDir, roles, actor, json, ...flags }) =>
    Effect.gen(function* () {
      const schema = flags.schema ?? undefined
      const { url, name } =
        databaseUrl === null
          ? yield* sharedIn(dataDir)
          : { url: databaseUrl, name: `The database ${nameOf(databaseUrl)}` }
      const { cells } = yield* cellsIn(flags)
      const applied = yield* migrated(databaseUrl === null ? "embedded" : "postgres", url, {
        schema,
        moveFrom: flags.moveFrom ?? undefined,
        whileRunning: flags.whileRunning,
        createSchema: !flags.noCreateSchema,
        cells
      })
      if (roles) {
        const { grantRoles, placesOf } = yield* Effect.promise(() => import("@workshop/store-pg/migrate"))
        for (const place of yield* placesOf({ url, schema }, cells))
          yield* grantRoles(place.url, { schema: place.schema })
      }
      const result =
        applied.length === 0 ? `${name} was up to date.` : `${appliedLines(applied)} ${name} is up to date.`
      const granted = roles ? " The roles workshop_service and workshop_reader have their rights." : ""
      yield* Console.log(json ? JSON.stringify({ database: name, applied }) : result + granted)
    }).pipe(Effect.scoped, Effect.mapError(storeRefused), actingAs(actor))
})
