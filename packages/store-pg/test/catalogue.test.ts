import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ShopId } from "@workshop/core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { LOAD_SHOPS, LOCK_HEADS } from "../src/commands/CommandBatch.js"
import { loadStatementTexts } from "../src/commands/LoadStatements.js"
import { saveStatements } from "../src/commands/SaveStatements.js"
import { CLAIM, RESCHEDULE_SHOPS, scheduleQueues } from "../src/deliveries/ClaimStatements.js"
import { type TableName, tables } from "../src/Tables.js"
import { database, runTest } from "./nodes/Node.js"

/** Small tables, of which every node of a distributed Postgres has a copy. */
const DIRECTORY = ["shop", "client_account", "client_erasure", "api_key"]
/** The tables that have no shop's rows and that no command uses. */
const APART = ["database_label", "rate_limit", "batch_receipt", "schema_migration"]
/** The tables of the directory of cells, which have rows only in the home cell. */
const OF_CELLS = ["cell", "shop_cell", "api_key_cell", "stale_account_copy"]

/**
 * The index begins with the tracking code, because the tracking page queries a ticket without its shop. It includes
 * `shop_id`, because a unique index of a distributed table must contain the distribution column.
 */
const BY_CODE = { table: "ticket", index: "ticket_tracking_code", columns: ["tracking_code", "shop_id"] }

const SHOP = "01890000-0000-7000-8000-000000000001" as ShopId

describe("a schema that can be distributed by shop (docs/how-it-is-built.md)", { timeout: 30_000 }, () => {
  const catalogue = Effect.gen(function* () {
    const { session } = yield* database
    return yield* session.run<{ table: string; index: string; columns: ReadonlyArray<string> }>(`
      select t.relname as table, c.relname as index, array(
          select a.attname::text from unnest(i.indkey::int2[]) with ordinality k (attnum, n)
          join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum order by k.n
        ) as columns
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      where t.relnamespace = 'workshop'::regnamespace and (i.indisprimary or i.indisunique) order by 1, 2`)
  })

  it("every primary key and unique index of shop data begins with shop_id, except the index of tracking codes", () =>
    runTest(
      Effect.gen(function* () {
        const unique = yield* catalogue
        const ofShops = unique.filter(({ table }) => ![...DIRECTORY, ...APART, ...OF_CELLS].includes(table))
        expect(ofShops.filter(({ columns }) => columns[0] !== "shop_id")).toEqual([BY_CODE])
        expect(ofShops.length).toBeGreaterThanOrEqual(15)
      })
    ))

  it("every table has a primary key, and this file lists it as a table of the directory, of shops or of neither", () =>
    runTest(
      Effect.gen(function* () {
        const { session } = yield* database
        const rows = yield* session.run<{ table: string; has_shop: boolean; has_key: boolean }>(`
          select c.relname as table,
            exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'shop_id' and a.attnotnull) as has_shop,
            exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) as has_key
          from pg_class c where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p')`)
        const others = rows
          .filter(({ has_shop, table }) => !has_shop && !OF_CELLS.includes(table))
          .map(({ table }) => table)
        expect(others.sort()).toEqual([...APART, "client_account", "client_erasure", "shop"].sort())
        expect(rows.filter(({ has_key }) => !has_key)).toEqual([])
      })
    ))

  it("the key by which a command replaces a row is the table's primary key without the partition column", () =>
    runTest(
      Effect.gen(function* () {
        const unique = yield* catalogue
        const keyOf = (name: string) => unique.find(({ index }) => index === `${name}_pkey`)?.columns
        // The primary key of a partitioned table also contains the partition column, an instant.
        for (const name of Object.keys(tables) as ReadonlyArray<TableName>)
          expect([name, keyOf(name)?.slice(0, tables[name].key.length)]).toEqual([name, tables[name].key])
      })
    ))

  it("every table and column has a comment, which psql and data catalogues show", () =>
    runTest(
      Effect.gen(function* () {
        const { session } = yield* database
        const silent = yield* session.run(
          `select c.relname as table, a.attname as column from pg_class c
          join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          where c.relnamespace = 'workshop'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
            and (col_description(c.oid, a.attnum) is null or obj_description(c.oid, 'pg_class') is null)`
        )
        expect(silent).toEqual([])
      })
    ))
})

/** The names of the tables with shop data. */
const SHOP_TABLES = Object.keys(tables)
  .filter((name) => !DIRECTORY.includes(name))
  .concat("delivery_queue", "backlogged_queue")

/** Each table with shop data that a statement reads or changes, with the alias that the statement gives it. */
const named = (sql: string): ReadonlyArray<readonly [string, string]> =>
  [
    ...sql.matchAll(
      /\b(?:from|join|update|delete from)\s+(\w+)(?:\s+(?!where|on|set|join|left|cross|order|using|for)(\w+))?/g
    )
  ].flatMap(([, table = "", alias = table]) => (SHOP_TABLES.includes(table) ? [[table, alias] as const] : []))

/** Whether a statement compares the table's `shop_id` with a parameter or with another row's `shop_id`. */
const bindsShop = (sql: string, alias: string): boolean =>
  new RegExp(`(?<!\\w)${alias}\\.shop_id (=|is not distinct from) |= ${alias}\\.shop_id(?!\\w)`).test(sql) ||
  (named(sql).length === 1 && /(?<![.\w])shop_id = /.test(sql))

const removes = saveStatements.filter(({ text }) => text.startsWith("delete"))

const SOURCES = new URL("../src/", import.meta.url)
const HAS_SQL = /`[^`]*\b(select|insert|update|delete)\b[^`]*\b(from|into|set)\b/s

/** The source text of a module and of all modules that it imports, directly or not, by path. */
const modulesFrom = (file: string, seen = new Map<string, string>()): ReadonlyMap<string, string> => {
  if (seen.has(file)) return seen
  const text = readFileSync(new URL(file, SOURCES), "utf8")
  seen.set(file, text)
  for (const [, imported] of text.matchAll(/from "(\.[\w/.]+)\.js"/g))
    modulesFrom(join(dirname(file), `${imported}.ts`), seen)
  return seen
}

describe("statements that touch only rows of the shops they name (docs/how-it-is-built.md)", () => {
  it.each([
    ...[...loadStatementTexts, ...removes, LOCK_HEADS, LOAD_SHOPS].map(({ name, text }) => [name, text] as const),
    ["claim", CLAIM] as const,
    ["reschedule shops", RESCHEDULE_SHOPS] as const
  ])("the statement %s touches only rows of the shops that it names", (_, text) => {
    const unbound = named(text).filter(([, alias]) => !bindsShop(text, alias))
    expect(unbound).toEqual([])
  })

  it("every write selects its rows by a key that begins with shop_id", () => {
    for (const [name, { key }] of Object.entries(tables))
      if (!DIRECTORY.includes(name)) expect([name, key[0]]).toEqual([name, "shop_id"])
    expect(scheduleQueues(new Map([[SHOP, { next_claim_at: 0, due_from: 0 }]])).text).toContain("on conflict (shop_id)")
  })

  it("the helpers of this test recognize a statement that also reads other shops", () => {
    expect(bindsShop("select * from ticket t where t.id = $1", "t")).toBe(false)
    expect(
      bindsShop("select * from ticket t join offer o on o.shop_id = q.shop_id where t.id = o.ticket_id", "t")
    ).toBe(false)
    expect(named("select from ticket t left join offer on true")).toEqual([
      ["ticket", "t"],
      ["offer", "offer"]
    ])
  })

  it("of the modules that Lane.ts imports, only those in this list contain SQL", () => {
    const withSql = [...modulesFrom("commands/Lane.ts")]
      .flatMap(([file, text]) => (HAS_SQL.test(text) ? [file] : []))
      .sort()
    expect(withSql).toEqual([
      "commands/CommandBatch.ts",
      "commands/LoadStatements.ts",
      "commands/SaveStatements.ts",
      // Its SQL reads sessions, not shop data.
      "connection/CommitWaits.ts",
      // Its SQL reads the names of schemas.
      "connection/TablesElsewhere.ts",
      "deliveries/ClaimStatements.ts",
      "deliveries/ReplayStatements.ts",
      // It contains no SQL, but its text matches the pattern.
      "secrets/WebhookSecrets.ts"
    ])
  })
})
