import {
  createReadStream,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough, Readable } from "node:stream"
import type { ImportLine } from "@workshop/core"
import type { PlainImportRow } from "@workshop/core/promise"
import { createTestWorkshop } from "@workshop/store-memory/testing"
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import { type FileFormat, RowsUnreadable, readRows } from "../../src/rows.js"
import { fileRefusal } from "../../src/transfer/rowSource.js"
import { lineOfRow, rowOfCells } from "../../src/transfer/rows.js"
import { runCommandLine } from "../runCommandLine.js"

const LONG = { timeout: 120_000 }
const scope = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 60_000)

const folder = mkdtempSync(join(tmpdir(), "workshop-transfer-"))
let there: { readonly DATABASE_URL: string }
beforeAll(async () => {
  there = { DATABASE_URL: (await Effect.runPromise(Scope.extend(testDatabase, scope))).url }
}, 60_000)

const newShop = async (): Promise<string> => {
  const opened = await runCommandLine(
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

const NOBODY = "01980000-0000-7000-8000-000000000009"

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

describe("workshop import and export (docs/import.md)", LONG, () => {
  it("a CSV file is imported, imported again, exported, and imported unchanged elsewhere; workshop check finds nothing", async () => {
    const [here, elsewhere] = [await newShop(), await newShop()]
    const file = fileOf("good.csv", [HEAD, ...GOOD])
    const dry = await runCommandLine(["import", file, "--shop", here, "--dry-run", "--json"], there)
    expect([dry.status, JSON.parse(dry.stdout)]).toMatchObject([0, { dry_run: true, tickets: 2, clients: 2, cards: 1 }])
    const preview = await runCommandLine(["import", file, "--shop", here, "--dry-run"], there)
    expect(preview.stdout).toContain(
      "1 ticket would be closed at once, because the client has not collected it in time.\n"
    )
    const made = await runCommandLine(["import", file, "--shop", here], there)
    expect(made).toEqual({
      status: 0,
      stdout:
        "Imported 2 tickets, 2 clients and 1 loyalty card.\n1 ticket was not collected in time, so a running service closes it now.\n",
      stderr: ""
    })
    const again = await runCommandLine(["import", file, "--shop", here], there)
    expect(again.stdout).toBe(
      "Imported 0 tickets, 0 clients and 0 loyalty cards.\n2 tickets of the file already exist and are not changed.\n"
    )
    const exports: Array<string> = []
    for (const format of ["csv", "jsonl"]) {
      const first = join(folder, `first.${format}`)
      const out = await runCommandLine(["export", first, "--shop", here], there)
      expect([out.status, out.stdout]).toEqual([
        0,
        `2 tickets are in ${first}, with the names and numbers of clients.\n`
      ])
      const to = format === "csv" ? elsewhere : await newShop()
      expect((await runCommandLine(["import", first, "--shop", to], there)).stdout).toContain(
        "Imported 2 tickets, 1 client and 1 loyalty card."
      )
      const second = join(folder, `second.${format}`)
      await runCommandLine(["export", second, "--shop", to], there)
      expect(readFileSync(second, "utf8")).toBe(readFileSync(first, "utf8"))
      exports.push(readFileSync(first, "utf8"))
    }
    expect(exports[0]).toContain('"Two\nlines, and ""quotes"""')
    const rows = exports[1]!
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(rows.find(({ external_ref }) => external_ref === "A-1")).toMatchObject({
      ...{ description: 'Two\nlines, and "quotes"', price_minor: 45_000 },
      client: { phone: "+21620123456", card: { balance: 4, lifetime: 4, rewards_redeemed: 0 } }
    })
    expect(await runCommandLine(["check"], there)).toMatchObject({ status: 0 })
    const alone = await newShop()
    await runCommandLine(["import", fileOf("one.csv", [HEAD, GOOD[0]!]), "--shop", alone], there)
    expect((await runCommandLine(["export", join(folder, "one.out.csv"), "--shop", alone], there)).stdout).toMatch(
      /^1 ticket is in .*one\.out\.csv, with the names and numbers of clients\.\n$/
    )
    const taken = await runCommandLine(["export", join(folder, "first.csv"), "--shop", here], there)
    expect([taken.status, taken.stderr]).toEqual([1, expect.stringContaining("cannot be written")])
    expect(readFileSync(join(folder, "first.csv"), "utf8")).toBe(exports[0])
    const printed = await runCommandLine(["export", "-", "--format", "csv", "--shop", here], there)
    expect(printed).toEqual({ status: 0, stdout: exports[0], stderr: "" })
    const nobody = await runCommandLine(["export", join(folder, "nobody.csv"), "--shop", NOBODY], there)
    expect([nobody.status, existsSync(join(folder, "nobody.csv"))]).toEqual([1, false])
  })

  it("an export that is imported into its own shop adds nothing, although its tickets had no reference", async () => {
    const { workshop, caller, shop, stop } = await createTestWorkshop()
    const { orThrow } = workshop
    for (const more of [{}, { external_ref: "A-1" }])
      await orThrow.tickets.createInApp(caller, { service: "Hem", ...more })
    const rows: Array<PlainImportRow> = []
    for await (const row of workshop.export(shop.id)) rows.push(row)
    expect(await orThrow.import(shop.id, { rows })).toMatchObject({ tickets: 0, already: 2 })
    await stop()
  })

  it("an import stops at a bad row and names its line, or skips the row; a dry run names all bad rows", async () => {
    const shop = await newShop()
    const file = fileOf("bad.csv", [
      HEAD,
      GOOD[0]!,
      "A-3,lost,Hem,,,,12a,,,,",
      "A-4,ready,Zip,,2026-01-06T09:00:00Z,,,,,,",
      GOOD[1]!
    ])
    const stopped = await runCommandLine(["import", file, "--shop", shop], there)
    expect(stopped).toMatchObject({
      status: 1,
      stdout: "Imported 1 ticket, 1 client and 1 loyalty card.\nStopped at line 4: 2 rows after it were not imported.\n"
    })
    expect(stopped.stderr).toBe(
      "Line 4 (A-3): state must be one of workshop, ready, impossible, collected, abandoned; price_minor must be a number. No row after the invalid one was imported. Correct the row and repeat the import, which does not change tickets that are already there, or add --bad-rows skip.\n"
    )
    const dry = await runCommandLine(["import", file, "--shop", shop, "--dry-run"], there)
    expect(dry).toMatchObject({
      status: 1,
      stderr:
        "2 rows of the file cannot be imported. Correct the rows listed above. Without --bad-rows skip, an import stops at the first invalid row.\n"
    })
    expect(dry.stdout).toContain("2 rows are invalid:\nline 4 (A-3): state must be")
    expect(dry.stdout).toContain("line 5 (A-4): ready_at is required if state is ready\n")
    const json = await runCommandLine(["import", file, "--shop", shop, "--json"], there)
    expect([json.status, JSON.parse(json.stdout)]).toMatchObject([1, { rows: 2, bad: 1, stopped_at: 4, not_read: 2 }])
    const skipped = await runCommandLine(["import", file, "--shop", shop, "--bad-rows", "skip", "--json"], there)
    expect(JSON.parse(skipped.stdout)).toMatchObject({ tickets: 1, already: 1, bad: 2, stopped_at: null, not_read: 0 })
    expect([skipped.status, skipped.stderr]).toEqual([
      1,
      "2 rows of the file were not imported. Correct the rows listed above, and repeat the import, which does not change tickets that are already there.\n"
    ])
  })

  it("a dry run with --bad-rows skip says that the import leaves bad rows out, and does not advise that flag", async () => {
    const file = fileOf("one-bad.csv", [HEAD, GOOD[0]!, "A-3,lost,Hem,,,,,,,,"])
    const dry = await runCommandLine(
      ["import", file, "--shop", await newShop(), "--dry-run", "--bad-rows", "skip"],
      there
    )
    expect(dry).toMatchObject({
      status: 1,
      stderr:
        "1 row of the file cannot be imported. Correct the rows listed above. An import with --bad-rows skip omits it.\n"
    })
  })

  it("an import that stops before an unreadable rest of the file does not count the rows of that rest", async () => {
    const lines = ["external_ref,service,state", "C-1,Hem,", "C-2,Hem,lost", 'C-3,Hem"x,']
    const stopped = await runCommandLine(["import", fileOf("both.csv", lines), "--shop", await newShop()], there)
    expect(stopped).toMatchObject({
      status: 1,
      stdout:
        "Imported 1 ticket, 0 clients and 0 loyalty cards.\nStopped at line 3: the rest of the file was not imported.\n",
      stderr: expect.stringMatching(/^Line 3 \(C-2\): .* or add --bad-rows skip\.\n$/)
    })
  })

  it("columns may be separated by semicolons or tabs, as in the first line; a price is in whole minor units", async () => {
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
      const made = await runCommandLine(["import", file, "--shop", shop], there)
      expect([made.status, made.stdout]).toEqual([0, "Imported 1 ticket, 0 clients and 0 loyalty cards.\n"])
    }
    const file = fileOf("price.csv", ["external_ref;service;price_minor", "P-1;Hem;12.50", "P-2;Hem;12,50"])
    const dry = await runCommandLine(["import", file, "--shop", shop, "--dry-run"], there)
    expect(dry.stdout).toContain(
      "line 2 (P-1): price_minor must be a whole number of minor units, such as 1250 for 12.50 EUR\nline 3 (P-2): price_minor must be a whole number"
    )
  })

  it("a price with a fraction of zero is refused like any other, because 15.00 would be 15 minor units", async () => {
    const shop = await newShop()
    const file = fileOf("round.csv", ["external_ref;service;price_minor", "R-1;Hem;15.00", "R-2;Hem;15,0"])
    const dry = await runCommandLine(["import", file, "--shop", shop, "--dry-run"], there)
    expect(dry.stdout).toContain(
      "Would import 0 tickets, 0 clients and 0 loyalty cards.\n2 rows are invalid:\nline 2 (R-1): price_minor must be a whole number of minor units, such as 1250 for 12.50 EUR\nline 3 (R-2): price_minor must be a whole number"
    )
  })

  it.each([
    ["jsonl", '{"service":"Hem"}\n', /^is longer than 1 MiB/],
    ["csv", 'service\nHem\n"', /a row is longer than 1 MiB/]
  ] as const)("a row of %s without an end is not read beyond 1 MiB", async (format, start, message) => {
    let read = 0
    const endless = function* () {
      yield Buffer.from(start)
      for (; read < 10_000; read++) yield Buffer.alloc(64 * 1024, "x")
    }
    const lines: Array<object> = []
    for await (const line of readRows(Readable.from(endless()), format).lines) lines.push(line)
    expect(lines).toEqual([
      expect.objectContaining({ row: { service: "Hem" } }),
      expect.objectContaining({ unreadable: expect.stringMatching(message), cut_short: true })
    ])
    expect(read).toBeLessThan(100)
  })

  it("a program can import the same files and streams with readRows", async () => {
    await using test = { ...(await createTestWorkshop()), [Symbol.asyncDispose]: () => test.stop() }
    const { workshop, shop } = test
    const file = fileOf("program.csv", [HEAD, ...GOOD])
    const import_ = (from: string | Readable, format: FileFormat) =>
      workshop.orThrow.import(shop.id, { lines: readRows(from, format).lines, badRows: "skip" })
    expect(await import_(file, "csv")).toMatchObject({ tickets: 2, clients: 2, bad: 0 })
    const text = "external_ref;service;price_minor\nS-1;Hem;1250\nS-2;Hem;12,50\n"
    expect(await import_(Readable.from([text]), "csv")).toMatchObject({ tickets: 1, bad_rows: [{ line: 3 }] })
    expect(await import_(Readable.from(['{"external_ref":"J-1",', '"service":"Hem"}\n']), "jsonl")).toMatchObject({
      tickets: 1
    })
  })

  it.each([
    [
      "a line that is not UTF-8",
      "csv",
      Buffer.from("external_ref;service\nU-1;Hem\nU-2;Ourlet \xe9\nU-3;Hem\n", "latin1")
    ],
    [
      "a line that is not UTF-8",
      "jsonl",
      Buffer.from('{"external_ref":"U-1","service":"Hem"}\n{"service":"\xe9"}\n{"service":"Hem"}\n', "latin1")
    ],
    ["an open quotation mark", "csv", Buffer.from('external_ref;service\nU-1;Hem\n"U-2;Hem\nU-3;Hem\n')]
  ] as const)(
    "the report names the line from which on nothing could be read, even if bad rows are skipped: %s, %s",
    async (_, format, bytes) => {
      await using test = { ...(await createTestWorkshop()), [Symbol.asyncDispose]: () => test.stop() }
      const lines = () => readRows(Readable.from([bytes]), format).lines
      const told = { tickets: 1, bad: 1, stopped_at: format === "csv" ? 3 : 2 }
      for (const badRows of ["skip", "stop"] as const) {
        const shop = await test.workshop.orThrow.shops.create({
          name: "Atelier",
          currency: "TND",
          decimals: 3,
          time_zone: "Africa/Tunis"
        })
        expect(await test.workshop.orThrow.import(shop.id, { lines: lines(), badRows })).toMatchObject(told)
      }
      const file = join(folder, `cut.${format}`)
      writeFileSync(file, bytes)
      const skipped = await runCommandLine(["import", file, "--shop", await newShop(), "--bad-rows", "skip"], there)
      expect(skipped).toMatchObject({
        status: 1,
        stderr: `The file cannot be read from line ${told.stopped_at} on. Correct the rows listed above, and repeat the import, which does not change tickets that are already there.\n`
      })
    }
  )

  it("a stream that was read before is refused, because its rows are gone, and so is an unknown format", async () => {
    const read = Readable.from(['{"service":"Hem"}\n'])
    for await (const _ of read);
    expect(() => readRows(read, "jsonl")).toThrow(
      "The stream was already read, for example by a body parser, so its rows are lost. Pass the stream to readRows before anything else reads it"
    )
    expect(() => readRows(Readable.from([]), "xml" as never)).toThrow("must be csv or jsonl")
  })

  it.each([
    ["no file", () => join(folder, "nofile.csv"), "There is no file FILE. Check the path."],
    ["no folder", () => join(fileOf("plain.csv", []), "in.csv"), "There is no file FILE. Check the path."],
    ["a folder", () => folder, "FILE is a folder. Give the path of a CSV or JSON lines file."]
  ] as const)("an import of a file that cannot be read rejects with a sentence: %s", async (_, from, sentence) => {
    await using test = { ...(await createTestWorkshop()), [Symbol.asyncDispose]: () => test.stop() }
    const file = from()
    const imported = (format: FileFormat) => test.workshop.import(test.shop.id, { lines: readRows(file, format).lines })
    for (const format of ["csv", "jsonl"] as const) {
      const error = await imported(format).catch((error) => error)
      expect(error).toBeInstanceOf(RowsUnreadable)
      expect(error).toMatchObject({ _tag: "RowsUnreadable", message: sentence.replace("FILE", file), cause: {} })
    }
    const command = await runCommandLine(["import", file, "--format", "csv", "--shop", NOBODY], there)
    expect(command).toMatchObject({ status: 1, stderr: `${sentence.replace("FILE", file)}\n` })
  })

  it("the error for a file that cannot be read is a sentence", () => {
    for (const code of ["EACCES", "EPERM"])
      expect(fileRefusal("a.csv", { code }).message).toBe(
        "This program has no permission to read a.csv. Correct the file's permissions."
      )
    expect(fileRefusal("a.csv", new Error("EIO: i/o error, read")).message).toBe(
      "The file a.csv cannot be read (EIO: i/o error, read)."
    )
  })

  /** The number of descriptors that this process has open for the file. */
  const timesOpen = (file: string) => {
    const links = readdirSync("/proc/self/fd").map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return ""
      }
    })
    return links.filter((link) => link === file).length
  }
  const onLinux = it.runIf(process.platform === "linux")

  onLinux("a file is open only while its rows are read: not before, and not after the reader stopped", async () => {
    await using test = { ...(await createTestWorkshop()), [Symbol.asyncDispose]: () => test.stop() }
    const file = fileOf("left.jsonl", ["no JSON", ...Array.from({ length: 20_000 }, () => '{"service":"Hem"}')])
    const unread = readRows(file, "jsonl").lines
    const shop_id = NOBODY
    expect(await test.workshop.import(shop_id, { lines: unread })).toMatchObject({
      refusal: { _tag: "ShopNotFound" }
    })
    expect(timesOpen(file)).toBe(0)
    const { lines } = readRows(file, "jsonl")
    await lines.next()
    expect(timesOpen(file)).toBe(1)
    await lines.return(undefined)
    expect(timesOpen(file)).toBe(0)
    const stopped = test.workshop.orThrow.import(test.shop.id, { lines: readRows(file, "jsonl").lines })
    expect(await stopped).toMatchObject({ stopped_at: 1 })
    expect(timesOpen(file)).toBe(0)
  })

  it("a failed stream rejects the import, and a stream that fails before it is read does not end the process", async () => {
    await using test = { ...(await createTestWorkshop()), [Symbol.asyncDispose]: () => test.stop() }
    const failing = Readable.from(
      (function* () {
        yield '{"service":"Hem"}\n'
        throw new Error("socket hang up")
      })()
    )
    const shop_id = test.shop.id
    const error = await test.workshop.import(shop_id, { lines: readRows(failing, "jsonl").lines }).catch((e) => e)
    expect(error).toMatchObject({
      _tag: "RowsUnreadable",
      message: "The stream of rows failed before its end: socket hang up."
    })
    const missing = createReadStream(join(folder, "nofile.csv"))
    const { lines } = readRows(missing, "csv")
    await new Promise<void>((resolve) => missing.once("close", resolve))
    await expect(lines.next()).rejects.toThrow("The stream of rows failed before its end: ENOENT")
    await expect(readRows(missing, "csv").lines.next()).rejects.toThrow("ENOENT")
  })

  it("a stream stays open after the reader stopped, because the response to an upload needs its socket", async () => {
    const upload = new PassThrough()
    upload.write('{"service":"Hem"}\n')
    const { lines } = readRows(upload, "jsonl")
    await lines.next()
    await lines.return(undefined)
    expect(upload.destroyed).toBe(false)
  })

  it("an export to a file that cannot be created is refused before it reads the tickets", async () => {
    for (const format of ["csv", "jsonl"]) {
      const file = join(folder, "no-folder", `tickets.${format}`)
      const { status, stderr } = await runCommandLine(["export", file, "--shop", await newShop()], there)
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(
          /tickets\.\w+ cannot be written \(ENOENT.*Give the name of a new file in a folder that exists\.\n$/
        )
      ])
    }
  })

  const rowsOf = async (from: string | Readable, format: FileFormat = "csv") => {
    const lines: Array<ImportLine> = []
    for await (const line of readRows(from, format).lines) lines.push(line)
    return lines
  }

  it("a row with an additional or a missing cell is bad, and the rows before and after it are read", async () => {
    const shop = await newShop()
    const file = fileOf("min.csv", ["external_ref;service", "X-1;Hem", "X-2;Hem;extra", "X-3;Hem", "X-4"])
    const dry = await runCommandLine(["import", file, "--shop", shop, "--dry-run"], there)
    expect(dry.stdout).toBe(
      `Would import 2 tickets, 0 clients and 0 loyalty cards.\n2 rows are invalid:\n${[3, 5]
        .map(
          (line) =>
            `line ${line}: row has ${line === 3 ? "3 cells" : "1 cell"}, but the first line names 2 columns: correct the separators, and put a cell that contains a separator in double quotes\n`
        )
        .join("")}`
    )
    const skipped = await runCommandLine(["import", file, "--shop", shop, "--bad-rows", "skip", "--json"], there)
    expect(JSON.parse(skipped.stdout)).toMatchObject({
      rows: 4,
      tickets: 2,
      bad: 2,
      bad_rows: [{ line: 3 }, { line: 5 }]
    })
    const rows = Array.from({ length: 3000 }, (_, n) => `Y-${n + 1},Hem${n === 1499 ? ",extra" : ""}`)
    const long = fileOf("long.csv", ["external_ref,service", ...rows])
    const stopped = await runCommandLine(["import", long, "--shop", shop], there)
    expect([stopped.status, stopped.stdout]).toEqual([
      1,
      "Imported 1499 tickets, 0 clients and 0 loyalty cards.\nStopped at line 1501: 1500 rows after it were not imported.\n"
    ])
    expect(stopped.stderr).toMatch(/^Line 1501: row has 3 cells, /)
    const went = await runCommandLine(["import", long, "--shop", shop, "--bad-rows", "skip", "--json"], there)
    expect(JSON.parse(went.stdout)).toMatchObject({ rows: 3000, tickets: 1500, already: 1499, bad: 1 })
  })

  it("an unknown or repeated column in the first line is the only error that is reported", async () => {
    const shop = await newShop()
    const rows = ["A-1;Hem;Amira", "A-2;Zip;Sami"]
    const unknown = fileOf("unknown.csv", ["external_ref;service;kunde;", ...rows.map((row) => `${row};`)])
    const dry = await runCommandLine(["import", unknown, "--shop", shop, "--dry-run"], there)
    expect(dry.stdout).toMatch(
      /^1 row is invalid:\nline 1: row names "kunde", but must name only columns .+ rename or remove this column\. /m
    )
    const skipped = await runCommandLine(["import", unknown, "--shop", shop, "--bad-rows", "skip", "--json"], there)
    expect(JSON.parse(skipped.stdout)).toMatchObject({ rows: 1, tickets: 0, bad: 1, stopped_at: 1 })
    const twice = fileOf("twice.csv", ["external_ref;service;service", ...rows])
    const stopped = await runCommandLine(["import", twice, "--shop", shop], there)
    expect([stopped.status, stopped.stderr]).toEqual([
      1,
      'Line 1: row names "service" twice, so no row was read: remove one of the two columns.\n'
    ])
    // The file has no line of names, and a misplaced quote in its first chunk, which must not be reported too.
    expect(await rowsOf(Readable.from([Buffer.from('A-1,Hem\nA-2,"Hem"x\n')]))).toEqual([
      { line: 1, unreadable: expect.stringContaining('names "A-1", "Hem", but'), cut_short: true }
    ])
    // A separator at the end of every line makes a column without a name, which is ignored.
    const nameless = "external_ref;service;\nA-1;Hem;\n"
    expect(await rowsOf(Readable.from([Buffer.from(nameless)]))).toMatchObject([{ row: { service: "Hem" } }])
  })

  it("the rows before a misplaced quotation mark are read, and each has the number of the line on which it begins", async () => {
    const quoted =
      'external_ref,service,item\r\n1,"Two\r\nlines",x\r\n\r\n2,"Two\nlines",x\r\n3,"Hem"x,x\r\n4,Hem,x\r\n'
    expect(await rowsOf(Readable.from([Buffer.from(quoted)]))).toMatchObject([
      { line: 2, row: { service: "Two\r\nlines" } },
      { line: 5, row: { service: "Two\nlines" } },
      { line: 7, unreadable: expect.stringContaining("a cell contains a double quotation mark") }
    ])
  })

  it("a file that is not UTF-8 is refused at its first such line, and text cut between chunks is read", async () => {
    const shop = await newShop()
    const file = join(folder, "latin1.csv")
    writeFileSync(file, Buffer.from("external_ref;service\nL-1;Hem\nL-2;Chemise d\xe9t\xe9\nL-3;Hem\n", "latin1"))
    const refused = await runCommandLine(["import", file, "--shop", shop, "--bad-rows", "skip"], there)
    expect(refused).toMatchObject({
      status: 1,
      stdout: `Imported 1 ticket, 0 clients and 0 loyalty cards.\nStopped at line 3: the rest of the file was not imported.\n1 row is invalid:\nline 3: row is not UTF-8, so no row from here on was read: save the file as UTF-8, which Excel calls "CSV UTF-8", and repeat the import\n`
    })
    // The message does not suggest --bad-rows skip, because it would not help.
    expect(await runCommandLine(["import", file, "--shop", shop], there)).toMatchObject({
      status: 1,
      stderr: `Line 3: row is not UTF-8, so no row from here on was read: save the file as UTF-8, which Excel calls "CSV UTF-8", and repeat the import.\n`
    })
    const json = Buffer.from(
      '{"external_ref":"M-1","service":"Hem"}\n{"external_ref":"M-2","service":"\xe9"}\n',
      "latin1"
    )
    expect(await rowsOf(Readable.from([json]), "jsonl")).toMatchObject([
      { line: 1, row: { external_ref: "M-1" } },
      {
        line: 2,
        unreadable:
          "is not UTF-8, so no row from here on was read: write the file as UTF-8, or convert it with iconv, and repeat the import"
      }
    ])
    const bytes = Buffer.from("\uFEFFexternal_ref,service\nN-1,été\n")
    const cut = [...bytes].map((byte) => Buffer.from([byte]))
    expect(await rowsOf(Readable.from(cut))).toEqual([{ line: 2, row: { external_ref: "N-1", service: "été" } }])
    expect(await rowsOf(Readable.from([bytes.subarray(0, -2)]))).toMatchObject([
      { line: 2, unreadable: expect.stringContaining("is not UTF-8") }
    ])
    await expect(rowsOf(join(folder, "none.csv"))).rejects.toThrow("There is no file")
    await expect(rowsOf(join(folder, "none.jsonl"), "jsonl")).rejects.toThrow("There is no file")
  })

  it("a line that is not JSON is reported with the column of its error", async () => {
    const reported = async (text: string) => {
      const [read] = await rowsOf(Readable.from([Buffer.from(`\uFEFF${text}\n`)]), "jsonl")
      return read
    }
    for (const [text, column] of [
      ["no JSON", 2],
      ['{"service":"Hem","price_minor":12.,"number":1}', 35],
      ['{"service":"Hem","items":[{"label":"A"},]}', 41],
      ["{'service':'Hem'}", 2],
      ['{"service":"Hem"}{"service":"Zip"}', 18],
      ['{"service":"Hem","number":NaN}', 27],
      [`{"description":"${"x".repeat(5000)}","number":tru}`, 5031]
    ] as const)
      expect(await reported(text)).toEqual({
        line: 1,
        unreadable: `is not a JSON object, because of the character in column ${column}: write one complete object on each line`
      })
    expect(await reported('{"service":"Hem","item":"Coa')).toEqual({
      line: 1,
      unreadable: "ends before its JSON object is complete: write one complete object on each line"
    })
  })

  it("workshop import reports a line that is not JSON, a file that is not CSV and a missing file", async () => {
    const shop = await newShop()
    const lines = fileOf("bad.jsonl", ['{"external_ref": "J-1", "service": "Hem"}', "", "{oops"])
    const json = await runCommandLine(["import", lines, "--shop", shop], there)
    expect([json.status, json.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^Line 3: row is not a JSON object, because of the character in column 2: write one complete object on each line\./
      )
    ])
    const open = fileOf("open.csv", [HEAD, 'A-9,workshop,"Hem'])
    const csv = await runCommandLine(["import", open, "--shop", shop], there)
    expect([csv.status, csv.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^Line 2: row cannot be read, so no row from here on was read: a double quotation mark at the start of a cell is never closed\. Close it\.\n$/
      )
    ])
    const none = await runCommandLine(["import", join(folder, "none.csv"), "--shop", shop], there)
    expect([none.status, none.stderr]).toEqual([1, `There is no file ${join(folder, "none.csv")}. Check the path.\n`])
    const nameless = await runCommandLine(["import", fileOf("rows.txt", []), "--shop", shop], there)
    expect(nameless.stderr).toContain("Add --format csv or --format jsonl")
  })
})

describe("cells of a CSV file (docs/import.md)", () => {
  it("cells become the fields of a row by the names of their columns, and empty cells are left out", () => {
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

  it("cells are quoted if they have a comma, a quote, a line end or white space around them", () => {
    expect(lineOfRow({ external_ref: 'a,"b"', service: " x ", item: "y" }, "csv")).toMatch(/^"a,""b""",,,,," x ",y,/)
  })
})
