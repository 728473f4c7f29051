import type { ShopId } from "@workshop/core"
import { Directory } from "@workshop/core/store"
import { addCell, checkData, listCells, migrate, removeCell } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../test/until.js"
import { createKey, type KeyInput } from "../../core/src/decisions/shopSettings.js"
import { hashKey } from "../../core/src/domain/ApiKey.js"
import { openShop, runCommand } from "../../core/src/testing/Fixtures.js"
import { openMigrationSession } from "../src/migrate/Session.js"
import type { PgStoreOptions } from "../src/PgStore.js"
import { acceptConnections, refuseConnections, serverSession, swapDatabases } from "./cluster/DatabaseAccess.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { create, node, type Ports, runTest } from "./nodes/Node.js"

const LONG = { timeout: 180_000 }

const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

/** Starts a node that must fail to start, and returns its error. */
const startRefused = (options: PgStoreOptions) =>
  Effect.scoped(node(options)).pipe(
    Effect.as("it started"),
    Effect.catchAllDefect((defect) => Effect.succeed((defect as Error).message))
  )

const KEY = "wk_live_a_key_of_the_cell"
const hasKey = (ports: Ports) =>
  Effect.provide(
    Effect.flatMap(Directory, (directory) => directory.keyByHash(hashKey(KEY))),
    ports
  )

/** A home cell and the cell east in a separate database, with a shop in each; the shop of east has a key. */
const homeAndEast = Effect.gen(function* () {
  const [home, east] = [yield* testDatabase, yield* testDatabase]
  const server = yield* Effect.orDie(serverSession(home.url))
  const cells = [{ name: "east", url: east.url }]
  yield* Effect.orDie(migrate(home.url, { cells }))
  const session = yield* Effect.orDie(openMigrationSession(home.url))
  const inEast = yield* Effect.gen(function* () {
    const ports = yield* node({ url: home.url, cells })
    yield* Effect.provide(Effect.replicateEffect(openShop(), 2), ports)
    const [row] = yield* session.run<{ shop_id: ShopId }>("select shop_id from workshop.shop_cell where cell = 'east'")
    const input = { name: "Till", scopes: ["tickets:read"] } as unknown as KeyInput
    yield* Effect.provide(runCommand(createKey(row!.shop_id, input, KEY)), ports)
    return row!.shop_id
  }).pipe(Effect.scoped, Effect.orDie)
  return { home, east, server, session, cells, inEast }
})

describe("A cell is accepted only if it has the id that the directory stores for it (docs/scaling.md)", LONG, () => {
  it("migrate, serve, check and list refuse a cell whose address leads to another database, and write nothing there", () =>
    runTest(
      Effect.gen(function* () {
        const { home } = yield* homeAndEast
        const empty = yield* testDatabase
        const there = yield* openMigrationSession(empty.url)
        yield* there.run("drop schema workshop cascade")
        const cells = [{ name: "east", url: empty.url }]
        expect(yield* messageOf(migrate(home.url, { cells }))).toBe(
          "The directory in the home cell has the cell east, but the cell is not at its address. Correct the cell's address in --cells, or restore the cell at that address. If it never had shops, remove it with workshop cell remove east."
        )
        expect(yield* there.run("select nspname from pg_namespace where nspname = 'workshop'")).toEqual([])
        expect(yield* startRefused({ url: home.url, cells })).toMatch(/^The cell east cannot be used \(/)
        expect((yield* listCells(home.url, { cells }))[1]).toMatchObject({ takes_shops: false })
        yield* migrate(empty.url)
        expect(yield* startRefused({ url: home.url, cells })).toBe(
          "There is no cell at the address of the cell east. Correct the address of the cell east in --cells, or restore the cell at that address."
        )
        // Another installation's cell of the same name.
        const otherHome = yield* testDatabase
        yield* migrate(otherHome.url, { cells })
        const anotherCell =
          /^At the address of the cell east is another cell with the same name\. Correct the (cell's )?address/
        expect(yield* messageOf(migrate(home.url, { cells }))).toMatch(anotherCell)
        expect(yield* startRefused({ url: home.url, cells })).toMatch(anotherCell)
        expect((yield* listCells(home.url, { cells }))[1]!.state).toMatch(anotherCell)
        const { findings } = yield* checkData(home.url, { timeoutMs: 10_000, cells })
        expect(findings).toMatchObject([{ cell: "east", name: "cell-unavailable" }])
        expect(findings[0]!.finds).toMatch(/another cell with the same name/)
      })
    ))

  it("migrate gives no id to a cell of an older program that has lost its shops, so that an empty database is never accepted as the cell", () =>
    runTest(
      Effect.gen(function* () {
        const { home, east, session, cells } = yield* homeAndEast
        const there = yield* openMigrationSession(east.url)
        yield* session.run("update workshop.cell set id = null")
        yield* there.run("delete from workshop.database_label where name like 'cell_id:%'; delete from workshop.shop")
        expect(yield* messageOf(migrate(home.url, { cells }))).toMatch(
          /^The directory in the home cell placed 1 shop in the cell east, but at its address the cell has no shops\. Correct the cell's address/
        )
        expect(yield* session.run("select id from workshop.cell where name = 'east'")).toEqual([{ id: null }])
      })
    ))

  it("a cell that returns with another id stays unavailable, and its API keys are refused as unavailable, never as unknown", () =>
    runTest(
      Effect.gen(function* () {
        const { home, east, server, cells, inEast } = yield* homeAndEast
        const twin = yield* testDatabase
        const otherHome = yield* testDatabase
        yield* migrate(otherHome.url, { cells: [{ name: "east", url: twin.url }] })
        const ports = yield* node({ url: home.url, cells })
        expect((yield* hasKey(ports))?.shop.id).toBe(inEast)
        yield* refuseConnections(server, east)
        yield* refuseConnections(server, twin)
        yield* swapDatabases(server, east, twin)
        yield* acceptConnections(server, east)
        yield* acceptConnections(server, twin)
        const outcomes = new Set<string>()
        for (let i = 0; i < 60; i++) {
          const outcome = yield* Effect.either(hasKey(ports))
          outcomes.add(outcome._tag === "Left" ? outcome.left._tag : outcome.right === null ? "unknown" : "found")
          yield* Effect.sleep("50 millis")
        }
        expect([...outcomes]).toEqual(["StoreUnavailable"])
        yield* refuseConnections(server, east)
        yield* refuseConnections(server, twin)
        yield* swapDatabases(server, east, twin)
        yield* acceptConnections(server, east)
        yield* acceptConnections(server, twin)
        yield* until(
          "the key in its own cell",
          Effect.orElseSucceed(hasKey(ports), () => null),
          (found) => found !== null
        )
      })
    ))

  it("check reports shops that are in the directory but missing in their cell", () =>
    runTest(
      Effect.gen(function* () {
        const { home, east, cells, inEast } = yield* homeAndEast
        const there = yield* openMigrationSession(east.url)
        yield* there.run("delete from workshop.shop_head; delete from workshop.api_key; delete from workshop.shop")
        const { findings } = yield* checkData(home.url, { timeoutMs: 10_000, cells })
        expect(findings.filter(({ name }) => name === "cell-shop")).toMatchObject([
          { count: 1, first: [{ shop_id: inEast, directory: "east" }] }
        ])
      })
    ))
})

describe("A list of cells that omits one is refused before anything is written (docs/scaling.md)", LONG, () => {
  it("migrate refuses a list that omits a cell, and cell remove removes a cell without shops", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const session = yield* openMigrationSession(url)
        const names = session.run<{ name: string }>("select name from workshop.cell order by name")
        yield* migrate(url, { cells: [{ name: "cell_1" }, { name: "cell_2" }] })
        const REMEDY = ". Give the same cells as workshop migrate."
        expect(yield* messageOf(migrate(url, { cells: [{ name: "nine" }] }))).toBe(
          `The directory in the home cell has the cell cell_1, which was not given${REMEDY}`
        )
        expect(yield* messageOf(migrate(url))).toBe(
          `The database is the home cell of several cells (cell_1, cell_2, home), but the other cells were not given${REMEDY}`
        )
        expect(yield* messageOf(migrate(url, { schema: "workshop_cell_1" }))).toMatch(
          /^The database is the cell cell_1 of another database, which is its home cell/
        )
        expect(yield* session.run("select from pg_namespace where nspname = 'workshop_nine'")).toEqual([])
        // New cells are listed together with the existing cells.
        yield* migrate(url, { cells: [{ name: "cell_1" }, { name: "cell_2" }, { name: "nine" }] })
        expect(
          yield* session.run("select details from workshop.audit_entry where act = 'database.cells_added' order by id")
        ).toEqual([{ details: { cells: ["cell_1", "cell_2"] } }, { details: { cells: ["nine"] } }])
        expect(yield* removeCell(url, "nine")).toEqual({ name: "nine", schema: "workshop_nine" })
        expect((yield* names).map(({ name }) => name)).toEqual(["cell_1", "cell_2", "home"])
        const ports = yield* node({ url, cells: [{ name: "cell_1" }, { name: "cell_2" }] })
        const shops = yield* Effect.provide(Effect.replicateEffect(openShop(), 3), ports)
        expect(yield* messageOf(removeCell(url, "cell_2"))).toBe(
          "The cell cell_2 has 1 shop, so it cannot be removed. Shops cannot be moved to another cell."
        )
        expect(yield* messageOf(removeCell(url, "home"))).toMatch(/^The home cell cannot be removed/)
        expect(yield* messageOf(removeCell(url, "nine"))).toMatch(/^There is no cell nine/)
        for (const { id } of shops) expect(yield* Effect.provide(create(id), ports)).toBe(1)
        // The name of a removed cell can be used again.
        yield* addCell(url, { name: "nine" })
        expect((yield* names).length).toBe(4)
      })
    ))
})

describe("The first shop (docs/scaling.md)", LONG, () => {
  it("if several processes start at once, only one creates the first shop", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const cells = [{ name: "cell_1" }, { name: "cell_2" }]
        yield* migrate(url, { cells })
        const nodes = yield* Effect.replicateEffect(node({ url, cells }), 3)
        const claims = yield* Effect.forEach(
          nodes,
          (ports) =>
            Effect.provide(
              Effect.flatMap(Directory, ({ claimFirstShop }) => claimFirstShop),
              ports
            ),
          { concurrency: "unbounded" }
        )
        expect(claims.toSorted()).toEqual([false, false, true])
      })
    ))
})

describe("An unavailable cell gets no new shops (docs/scaling.md)", LONG, () => {
  it("new shops open in the other cells, the directory has no entry of a failed attempt, and list shows that the cell accepts none", () =>
    runTest(
      Effect.gen(function* () {
        const { home, east, server, session, cells } = yield* homeAndEast
        const ports = yield* node({ url: home.url, cells })
        yield* refuseConnections(server, east)
        const started = yield* node({ url: home.url, cells })
        yield* Effect.provide(Effect.replicateEffect(openShop(), 3), ports)
        yield* Effect.provide(Effect.replicateEffect(openShop(), 3), started)
        expect(
          yield* session.run("select cell, count(*)::integer as n from workshop.shop_cell group by cell order by cell")
        ).toEqual([
          { cell: "east", n: 1 },
          { cell: "home", n: 7 }
        ])
        const listed = yield* listCells(home.url, { cells })
        expect(listed[1]).toMatchObject({ name: "east", shops: 1, takes_shops: false })
        expect(listed[1]!.state).toMatch(
          /^The cell east cannot be reached \(.+\). Check that its server is running, and that --cells has its address\.$/
        )
        const { checks, findings } = yield* checkData(home.url, { timeoutMs: 10_000, cells })
        expect(checks).toBeGreaterThan(10)
        expect(findings).toMatchObject([{ cell: "east", name: "cell-unavailable" }])
        expect(yield* messageOf(migrate(home.url, { cells }))).toMatch(/^The cell east cannot be reached \(/)
        yield* acceptConnections(server, east)
        expect((yield* checkData(home.url, { timeoutMs: 10_000, cells })).findings).toEqual([])
        const without = yield* listCells(home.url)
        expect(without[1]).toMatchObject({
          name: "east",
          node: "",
          state: "The cell is not in this database, and its address is not stored. Give its address in --cells."
        })
      })
    ))
})
