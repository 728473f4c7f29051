import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import { lineOfRow, rowOfCells } from "../../src/transfer/rows.js"
import { typed } from "../commandLine.js"

const PATIENT = { timeout: 120_000 }
const scope = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 60_000)

const folder = mkdtempSync(join(tmpdir(), "workshop-transfer-"))
let there: { readonly DATABASE_URL: string }
beforeAll(async () => {
  there = { DATABASE_URL: (await Effect.runPromise(Scope.extend(testDatabase, scope))).url }
}, 60_000)

const newShop = async (): Promise<string> => {
  const opened = await typed(
    [
      "shop",
      "create",
      "--name",
      "Atelier",
      "--currency",
      "TND",
      "--decimals",
      "3",
      "--time-zone",
      "Africa/Tunis",
      "--json"
    ],
    there
  )
  return JSON.parse(opened.stdout).id
}

const fileOf = (name: string, lines: ReadonlyArray<string>): string => {
  const file = join(folder, name)
  writeFileSync(file, `${lines.join("\n")}\n`)
  return file
}

const HEAD =
  "external_ref,state,service,description,created_at,ready_at,price_minor,client.phone,client.given_name,client.family_name,client.card.balance"
const GOOD = [
  'A-1,workshop,Hem,"Two\nlines, and ""quotes""",2026-01-05T09:00:00Z,,45000,+21620123456,Amira,Ben Salah,4',
  "A-2,ready,Zip,,2026-01-06T09:00:00Z,2026-01-07T09:00:00Z,,+21620123456,Amira,Ben Salah,",
  ",,,,,,,+21655000111,Karim,Trabelsi,"
]

describe("workshop import and export (docs/import.md)", PATIENT, () => {
  it("a CSV file is imported, repeated, exported, and imported elsewhere as it was; workshop check finds nothing", async () => {
    const [here, elsewhere] = [await newShop(), await newShop()]
    const file = fileOf("good.csv", [HEAD, ...GOOD])
    const dry = await typed(["import", file, "--shop", here, "--dry-run", "--json"], there)
    expect([dry.status, JSON.parse(dry.stdout)]).toMatchObject([0, { dry_run: true, tickets: 2, clients: 2, cards: 1 }])
    const made = await typed(["import", file, "--shop", here], there)
    expect(made).toEqual({
      status: 0,
      stdout:
        "Imported 2 tickets, 2 clients and 1 loyalty card.\n1 ticket will be closed at once, because the time to collect has passed.\n",
      stderr: ""
    })
    const again = await typed(["import", file, "--shop", here], there)
    expect(again.stdout).toBe(
      "Imported 0 tickets, 0 clients and 0 loyalty cards.\n2 tickets were there already and stay as they are.\n"
    )
    const exports: Array<string> = []
    for (const format of ["csv", "jsonl"]) {
      const first = join(folder, `first.${format}`)
      const out = await typed(["export", first, "--shop", here], there)
      expect([out.status, out.stdout]).toEqual([
        0,
        `2 tickets are in ${first}, with their clients' names and numbers.\n`
      ])
      const to = format === "csv" ? elsewhere : await newShop()
      expect((await typed(["import", first, "--shop", to], there)).stdout).toContain(
        "Imported 2 tickets, 1 client and 1 loyalty card."
      )
      const second = join(folder, `second.${format}`)
      await typed(["export", second, "--shop", to], there)
      expect(readFileSync(second, "utf8")).toBe(readFileSync(first, "utf8"))
      exports.push(readFileSync(first, "utf8"))
    }
    expect(exports[0]).toContain('"Two\nlines, and ""quotes"""')
    expect(JSON.parse(exports[1]!.split("\n")[0]!)).toMatchObject({
      ...{ external_ref: "A-1", description: 'Two\nlines, and "quotes"', price_minor: 45_000 },
      client: { phone: "+21620123456", card: { balance: 4, lifetime: 4, rewards_redeemed: 0 } }
    })
    expect(await typed(["check"], there)).toMatchObject({ status: 0 })
    const taken = await typed(["export", join(folder, "first.csv"), "--shop", here], there)
    expect([taken.status, taken.stderr]).toEqual([1, expect.stringContaining("cannot be written")])
  })

  it("stops at a bad row and says its line, or skips it; a dry run tells all of them", async () => {
    const shop = await newShop()
    const file = fileOf("bad.csv", [
      HEAD,
      GOOD[0]!,
      "A-3,lost,Hem,,,,12a,,,,",
      "A-4,ready,Zip,,2026-01-06T09:00:00Z,,,,,,",
      GOOD[1]!
    ])
    const stopped = await typed(["import", file, "--shop", shop], there)
    expect(stopped).toMatchObject({ status: 1, stdout: "Imported 1 ticket, 1 client and 1 loyalty card.\n" })
    expect(stopped.stderr).toBe(
      "Line 4 (A-3): state must be one of workshop, ready, impossible, collected, abandoned; price_minor must be a number. Nothing after it was read: correct the row and repeat the import, which leaves what is there as it is, or add --bad-rows skip.\n"
    )
    const dry = await typed(["import", file, "--shop", shop, "--dry-run"], there)
    expect(dry).toMatchObject({
      status: 1,
      stderr: "2 rows of the file cannot be imported: correct what is listed above.\n"
    })
    expect(dry.stdout).toContain("2 rows are wrong:\nline 4 (A-3): state must be")
    expect(dry.stdout).toContain("line 5 (A-4): ready_at is required where the state is ready\n")
    const skipped = await typed(["import", file, "--shop", shop, "--bad-rows", "skip", "--json"], there)
    expect(JSON.parse(skipped.stdout)).toMatchObject({ tickets: 1, already: 1, bad: 2, stopped_at: null })
    expect([skipped.status, skipped.stderr]).toEqual([
      1,
      "2 rows of the file were not imported: correct what is listed above, and repeat the import, which leaves what is there as it is.\n"
    ])
  })

  it("columns may be separated by semicolons or tabs, as the first line says; a price is in whole minor units", async () => {
    const shop = await newShop()
    for (const separator of [";", "\t"]) {
      const rows = [
        ["external_ref", "service", "item", "price_minor"],
        [`${separator.charCodeAt(0)}`, "Hem", "Blue, with a belt", "1250"]
      ]
      const file = fileOf(
        "excel.csv",
        rows.map((cells) => cells.join(separator))
      )
      const made = await typed(["import", file, "--shop", shop], there)
      expect([made.status, made.stdout]).toEqual([0, "Imported 1 ticket, 0 clients and 0 loyalty cards.\n"])
    }
    const file = fileOf("price.csv", ["external_ref;service;price_minor", "P-1;Hem;12.50", "P-2;Hem;12,50"])
    const dry = await typed(["import", file, "--shop", shop, "--dry-run"], there)
    expect(dry.stdout).toContain(
      "line 2 (P-1): price_minor must be a whole number of minor units, such as 1250 for 12.50 EUR\nline 3 (P-2): price_minor must be a whole number"
    )
  })

  it("a line that is no JSON, a file that is no CSV and one that is not there are told", async () => {
    const shop = await newShop()
    const lines = fileOf("bad.jsonl", ['{"external_ref": "J-1", "service": "Hem"}', "", "{oops"])
    const json = await typed(["import", lines, "--shop", shop], there)
    expect([json.status, json.stderr]).toEqual([
      1,
      expect.stringMatching(/^Line 3: row is no JSON object: each line holds one\./)
    ])
    const open = fileOf("open.csv", [HEAD, 'A-9,workshop,"Hem'])
    const csv = await typed(["import", open, "--shop", shop], there)
    expect([csv.status, csv.stderr]).toEqual([1, expect.stringMatching(/^Line \d+: row is no row of the file: /)])
    const none = await typed(["import", join(folder, "none.csv"), "--shop", shop], there)
    expect([none.status, none.stderr]).toEqual([1, `There is no file ${join(folder, "none.csv")}.\n`])
    const nameless = await typed(["import", fileOf("rows.txt", []), "--shop", shop], there)
    expect(nameless.stderr).toContain("add --format csv or --format jsonl")
  })
})

describe("cells of a CSV file (docs/import.md)", () => {
  it("are the fields of a row by the names of their columns, and empty ones are left out", () => {
    const cells = {
      service: "Hem",
      number: "12",
      item: "",
      "client.card.balance": "3",
      "client.hide_name": "true",
      part: '{"label":"Zip"}'
    }
    expect(rowOfCells(cells)).toEqual({
      service: "Hem",
      number: 12,
      client: { card: { balance: 3 }, hide_name: true },
      part: { label: "Zip" }
    })
    expect(rowOfCells({ number: "12a", part: "{" })).toEqual({ number: "12a", part: "{" })
  })

  it("are quoted where they have a comma, a quote, a line end or white space around them", () => {
    expect(lineOfRow({ external_ref: 'a,"b"', service: " x ", item: "y" }, "csv")).toMatch(/^"a,""b""",,,,," x ",y,/)
  })
})
