import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const text = (path: string) => readFileSync(join(root, path), "utf8")

const section = (page: string, title: string) => {
  const [, rest = ""] = text(page).split(`## ${title}\n`)
  return rest.split("\n## ")[0]!
}

describe("docs/security.md", () => {
  it("each promise on the page names a test file that exists and has tests", () => {
    const rows = section("docs/security.md", "Promises and their tests")
      .split("\n")
      .filter((line) => line.startsWith("| ") && !line.startsWith("| promise"))
    expect(rows.length).toBeGreaterThan(15)
    const missing = rows.flatMap((row) => {
      const files = [...row.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file]) => file!)
      const bad = files.filter((file) => !existsSync(join(root, file)) || !/\b(it|describe)\b/.test(text(file)))
      return files.length === 0 ? [`no test: ${row}`] : bad
    })
    expect(missing).toEqual([])
  })

  it("the page describes a threat by each attacker: stranger, tenant, client, receiver, proxy, operator", () => {
    const threats = section("docs/security.md", "Threats")
    const absent = ["a stranger", "a tenant", "a client", "a receiver", "a proxy", "an operator"]
    expect(absent.filter((attacker) => !threats.includes(`**${attacker}**`))).toEqual([])
  })
})

/** The text columns without personal data: fixed words, codes, hashes, secrets and versions. */
const IMPERSONAL = [
  /^(attempt\.(error|timings)|delivery\.type|event\.type|queued_notification\.receiver|notification\.type|replay\.filter)$/,
  /^(api_key\.(hash|last_four|scopes)|webhook\.(secret|previous_secret|off_reason)|audit_entry\.act)$/,
  /^(notice\.(kind|off_reason)|offer\.status|loyalty_ledger\.(kind|caller_id)|stamp_limit\.caller_id)$/,
  /^(ticket\.(state|outcome|type|abandon_reason|created_via)|shop\.(currency|time_zone|languages))$/,
  /^(stale_account_copy\.cell|cell\.(name|id)|shop_cell\.cell|api_key_cell\.(hash|cell))$/,
  /^(idempotency_record\.(caller_id|operation)|rate_limit\.policy|database_label\.name|schema_migration\.(name|checksum))$/
]

describe("docs/personal-data.md", () => {
  const columns = [
    ...text("packages/store-pg/schema.sql").matchAll(/^create (?:unlogged )?table (\w+) \(\n([^;]*?)\n\)/gm)
  ]
    .flatMap(([, table, body]) =>
      [...body!.matchAll(/^ {2}(\w+) (?:text|json|jsonb|character varying)(?:\[\])?[ ,\n]/gm)].map(
        ([, column]) => `${table}.${column}`
      )
    )
    .filter((column) => !IMPERSONAL.some((pattern) => pattern.test(column)))
  const listed = [...section("docs/personal-data.md", "Stored data").matchAll(/`(\w+\.\w+)`/g)].map(
    ([, column]) => column!
  )

  it("the page lists every text column of the schema that may hold personal data", () => {
    expect(columns.length).toBeGreaterThan(25)
    expect(columns.filter((column) => !listed.includes(column))).toEqual([])
  })

  it("the page lists no column that does not exist", () => {
    const inSchema = listed.filter((column) => column !== "postgres.log")
    expect(inSchema.filter((column) => !columns.includes(column))).toEqual([])
  })
})
