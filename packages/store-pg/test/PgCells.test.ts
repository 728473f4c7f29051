import { Entropy, type ShopId, type StorePorts } from "@workshop/core"
import { unavailableCells } from "@workshop/core/internal"
import { runContract, SettableClock } from "@workshop/core/testing"
import { addCell, migrate, rolesSql } from "@workshop/store-pg/migrate"
import { type Context, Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { until } from "../../../test/until.js"
import { newTicket, openAccount, openShop } from "../../core/src/testing/Fixtures.js"
import { type CellAddress, parseCells } from "../src/cells/CellLocations.js"
import { addressOfNode } from "../src/cells/CitusNodes.js"
import { openMigrationSession } from "../src/migrate/Session.js"
import { layer, type PgStoreOptions } from "../src/PgStore.js"
import { retention } from "../src/retention/Retention.js"
import { copyOf, testDatabase } from "./cluster/TestDatabase.js"
import { describeExceptSubjects } from "./describeExceptSubjects.js"
import { complaints, withProbes } from "./failures/notReadyReasons.js"
import { as, renameRoles, roleIn } from "./migrate/TestRoles.js"
import { node, numbers, runTest } from "./nodes/Node.js"

const leaseClock = Effect.map(SettableClock.current, (clock) => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))

const CELLS = [{ name: "north" }, { name: "south" }]
const SCHEMAS = ["workshop", "workshop_north", "workshop_south"]

const scope = Effect.runSync(Scope.make())
let original: { readonly url: string }
beforeAll(async () => {
  const migrated = Effect.tap(testDatabase, ({ url }) => migrate(url, { cells: CELLS }))
  original = await Effect.runPromise(Scope.extend(migrated, scope))
}, 60_000)
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)), 60_000)

/** A database with three cells, a session of its owner, and the connection string of the service's role. */
const databaseOfCells = Effect.gen(function* () {
  const { url } = yield* copyOf(original)
  const session = yield* openMigrationSession(url)
  for (const schema of SCHEMAS) yield* session.run(renameRoles(url, rolesSql({ schema })))
  const roles = [roleIn(url, "workshop_service"), roleIn(url, "workshop_reader")]
  yield* Effect.addFinalizer(() => Effect.orDie(session.run(`drop owned by ${roles}; drop role ${roles}`)))
  return { url, session, service: as(url, roles[0]!) }
}).pipe(Effect.orDie)

runContract(
  {
    // These suites are skipped because a cell stores this data as a database without cells does, and
    // MemoryCells.test.ts shows that each call is routed to the right cell.
    describe: describeExceptSubjects(
      "Store: changes",
      "Store: changes of clients",
      "Store: a repaired clock",
      "Store: imports",
      "AuditLog",
      "Reads: the list",
      "Reads: the sync",
      "Deliveries: order of claims",
      "Deliveries: replays",
      "Deliveries: removal of the webhook",
      "DeliveryLog"
    ),
    it,
    afterAll
  },
  "A store of three cells, schemas of one database, for the service's role,",
  Layer.unwrapScoped(
    Effect.map(databaseOfCells, ({ service: url }) =>
      layer({ url, cells: CELLS, leaseClock, secretsKeys: ["0".repeat(64)] })
    )
  )
)

const LONG = { timeout: 180_000 }

const on = <A, E>(
  ports: Context.Context<StorePorts | Entropy>,
  effect: Effect.Effect<A, E, StorePorts | Entropy>
): Effect.Effect<A, E> => Effect.provide(effect, ports)

/** Starts a store that must fail to start, and returns the message of its error. */
const refusalOf = (options: PgStoreOptions): Effect.Effect<string, unknown, Scope.Scope> =>
  Effect.map(
    Effect.flip(Layer.build(Layer.provide(layer(options), Entropy.layer))) as Effect.Effect<
      Error,
      unknown,
      Scope.Scope
    >,
    ({ message }) => message
  )

describe("Several cells on Postgres (docs/scaling.md)", LONG, () => {
  it("migrate makes an existing installation the home cell without rewriting its tables, and new shops open in the cell with the fewest shops", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const before = yield* Effect.scoped(
          Effect.gen(function* () {
            const alone = yield* node({ url })
            const shop = yield* on(alone, openShop())
            yield* on(alone, newTicket(shop.id))
            return { shop, account: yield* on(alone, openAccount()) }
          })
        )
        const session = yield* openMigrationSession(url)
        const filesOf =
          "select pg_relation_filenode('workshop.ticket') as ticket, pg_relation_filenode('workshop.shop') as shop"
        const files = yield* session.run(filesOf)
        yield* migrate(url, { cells: CELLS })
        expect(yield* session.run(filesOf)).toEqual(files)
        const cells = yield* node({ url, cells: CELLS })
        expect(yield* on(cells, numbers(before.shop.id))).toEqual([1])
        const opened = yield* on(cells, Effect.replicateEffect(openShop(), 4))
        for (const { id } of opened) yield* on(cells, newTicket(id))
        const counts = yield* Effect.forEach(SCHEMAS, (schema) =>
          session.run<{ n: string }>(`select count(*) as n from ${schema}.shop`)
        )
        expect(counts.map(([row]) => Number(row!.n))).toEqual([2, 2, 1])
        // Migrate copies the existing client accounts to the new cells.
        const copied = session.run<{ n: string }>("select count(*) as n from workshop_south.client_account")
        yield* until("the account in the cell", copied, ([row]) => row!.n === "1")
      })
    ))

  it("a cell in another cluster stores its own shops and a copy of the home cell's client accounts", () =>
    runTest(
      Effect.gen(function* () {
        const [home, other] = [yield* testDatabase, yield* testDatabase]
        const cells: ReadonlyArray<CellAddress> = [{ name: "east", url: other.url }]
        yield* migrate(home.url, { cells })
        const [first, second] = [yield* node({ url: home.url, cells }), yield* node({ url: home.url, cells })]
        const account = yield* on(first, openAccount())
        const [eastShop, homeShop] = yield* on(first, Effect.replicateEffect(openShop(), 2))
        yield* on(first, newTicket(homeShop!.id))
        yield* on(second, newTicket(eastShop!.id))
        expect(yield* on(first, numbers(eastShop!.id))).toEqual([1])
        const east = yield* openMigrationSession(other.url)
        expect(yield* east.run("select id from workshop.shop")).toEqual([{ id: eastShop!.id }])
        expect(yield* east.run("select id from workshop.client_account")).toEqual([{ id: account.id }])
      })
    ))

  it("a node opens no more connections for many cells than for one", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const cells = yield* parseCells("8")
        yield* migrate(url, { cells })
        const ports = yield* node({ url, cells })
        const shops = yield* on(ports, Effect.replicateEffect(openShop(), 16))
        yield* on(
          ports,
          Effect.forEach([...shops, ...shops, ...shops], ({ id }) => newTicket(id), { concurrency: "unbounded" })
        )
        yield* on(
          ports,
          Effect.forEach([...shops, ...shops, ...shops], ({ id }) => numbers(id), { concurrency: "unbounded" })
        )
        const session = yield* openMigrationSession(url)
        const [row] = yield* session.run<{ n: string }>(
          "select count(*) as n from pg_stat_activity where datname = current_database() and application_name like 'workshop %'"
        )
        // 15 connections: 2 for lanes, 1 for the contended lane, 1 for claims, 1 for limits, 2 for notifications, 8 for
        // reads.
        expect(Number(row!.n)).toBeLessThanOrEqual(15)
      })
    ))

  it("retention runs in each cell", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* databaseOfCells
        const { runOnce } = yield* retention({ url, schema: "workshop_south" })
        expect((yield* runOnce)?.created.length).toBeGreaterThan(0)
        const [row] = yield* session.run<{ n: string }>(
          "select count(*) as n from pg_class where relnamespace = 'workshop_south'::regnamespace and relname ~ '^event_2'"
        )
        expect(Number(row!.n)).toBeGreaterThan(0)
      })
    ))
})

describe("A wrong list of cells is refused before anything is written (docs/scaling.md)", LONG, () => {
  const REMEDY = ". Give the same cells as workshop migrate."

  it.each([
    ["x y x", "Two cells have the name x"],
    ["home", "The name home is reserved for the home cell"],
    [
      "North",
      `"North" is not a valid name for a cell. A name has 1 to 31 lower-case letters, digits and underscores, and begins with a letter`
    ],
    ["0", "The number of cells must be from 1 to 1000, and not 0"],
    ["1001", "The number of cells must be from 1 to 1000, and not 1001"]
  ])("migrate refuses the cells %s", (text, message) =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const refusal = yield* Effect.flip(
          Effect.flatMap(parseCells(text), (cells) => migrate(url, { cells, schema: "untouched" }))
        )
        expect(refusal.message).toBe(message + REMEDY)
        const session = yield* openMigrationSession(url)
        expect(yield* session.run("select from pg_namespace where nspname like 'untouched%'")).toEqual([])
      })
    )
  )

  it("migrate refuses two cells in one database and schema", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const cells = [{ name: "east", url }]
        expect((yield* Effect.flip(migrate(url, { cells }))).message).toBe(
          `The cells home and east have the same address and schema${REMEDY}`
        )
      })
    ))

  it("the address of a Citus node is the coordinator's address with the node's host and port", () => {
    const at = (url: string) => addressOfNode(url, "10.0.0.7", 5433)
    expect(at("postgres://me:p%40ss@db0,db1:6000/workshop?sslmode=disable&host=db0&port=1")).toBe(
      "postgres://me:p%40ss@10.0.0.7:5433/workshop?sslmode=disable"
    )
    expect(at("postgres://db0/workshop")).toBe("postgres://10.0.0.7:5433/workshop")
    expect(addressOfNode("postgres://db0/w", "::1", 5432)).toBe("postgres://[::1]:5432/w")
  })

  it("--cells accepts a number of cells, or a list of cell names with addresses", async () => {
    const read = (text: string) => Effect.runPromise(parseCells(text))
    expect(await read("3")).toEqual([{ name: "cell_1" }, { name: "cell_2" }])
    expect(await read("1")).toEqual([])
    expect(await read(" north  south=postgres://a,b/c?sslmode=disable ")).toEqual([
      { name: "north" },
      { name: "south", url: "postgres://a,b/c?sslmode=disable" }
    ])
  })

  it("a store does not start if its options name an unknown cell, omit a known cell or name no cells", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* databaseOfCells
        const third = { name: "third" }
        expect(yield* refusalOf({ url, cells: [...CELLS, third] })).toBe(
          "The directory in the home cell has no cell third. Correct the cell's name, or add the cell with workshop cell add or workshop migrate --cells."
        )
        expect(yield* refusalOf({ url, cells: [CELLS[0]!] })).toBe(
          `The directory in the home cell has the cell south, which was not given${REMEDY}`
        )
        expect(yield* refusalOf({ url })).toBe(
          `The database is the home cell of several cells (home, north, south), but the other cells were not given${REMEDY}`
        )
        expect(yield* refusalOf({ url, schema: "workshop_north" })).toBe(
          `The database is the cell north of another database, which is its home cell${REMEDY}`
        )
      })
    ))

  it("a store does not start if a cell has an older schema, is at the address of a different cell, or was dropped", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* databaseOfCells
        yield* session.run("delete from workshop_north.schema_migration where version > 20")
        expect(yield* refusalOf({ url, cells: CELLS })).toMatch(
          /^The cell north cannot be used \(The schema \w+ of the database has version 20, but this program needs version \d+\. Run workshop migrate\). Check the cell's address, and run workshop migrate with the same --cells\.$/
        )
        yield* session.run("drop schema workshop_north cascade; alter schema workshop_south rename to workshop_north")
        expect(yield* refusalOf({ url, cells: CELLS })).toBe(
          "The address of the cell north is that of the cell south. Correct the address of the cell north in --cells, or restore the cell at that address."
        )
        expect((yield* Effect.flip(migrate(url, { cells: CELLS }))).message).toBe(
          "The address of the cell north is that of the cell south. In --cells, give each cell the address that it had before."
        )
        yield* session.run("drop schema workshop_north cascade")
        expect(yield* refusalOf({ url, cells: CELLS })).toMatch(/^The cell (north|south) cannot be used/)
      })
    ))

  it("a running process refuses the shops of a cell that was added after its start, and of a dropped cell", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        yield* migrate(url, { cells: CELLS })
        const session = yield* openMigrationSession(url)
        const before = yield* node({ url, cells: CELLS })
        const [, inNorth] = yield* on(before, Effect.replicateEffect(openShop(), 3))
        const cells = [...CELLS, { name: "east" }]
        yield* addCell(url, { name: "east" })
        const after = yield* node({ url, cells })
        const inEast = yield* on(after, openShop())
        const refusal = (shop_id: ShopId) =>
          Effect.map(Effect.flip(on(before, newTicket(shop_id))), (error) => [error._tag, (error as Error).message])
        expect(yield* refusal(inEast.id)).toEqual([
          "StoreUnavailable",
          "The directory of cells has the cell east, but --cells of this process does not. Start the process with the same --cells as workshop migrate."
        ])
        yield* session.run("drop schema workshop_north cascade")
        expect((yield* refusal(inNorth!.id))[0]).toBe("StoreUnavailable")
        const counts = yield* Effect.forEach(["workshop", "workshop_south", "workshop_east"], (schema) =>
          session.run<{ n: string }>(`select count(*) as n from ${schema}.ticket`)
        )
        expect(counts.map(([row]) => row!.n)).toEqual(["0", "0", "0"])
        // The other cells still accept writes.
        expect(yield* on(after, Effect.as(newTicket(inEast.id), true))).toBe(true)
      })
    ))

  it("a running process refuses only the shops of a cell that its role cannot read or that has an older schema", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session, service } = yield* databaseOfCells
        const role = roleIn(url, "workshop_service")
        const [inHome, inNorth] = yield* Effect.scoped(
          Effect.flatMap(node({ url: service, cells: CELLS }), (ports) =>
            on(ports, Effect.replicateEffect(openShop(), 3))
          )
        )
        yield* session.run(`revoke usage on schema workshop_south from ${role}`)
        const ports = yield* node({ url: service, cells: CELLS })
        for (const { id } of [inHome!, inNorth!]) yield* on(ports, newTicket(id))
        const denied =
          "The database role of this process may not read the cell south. As the owner of the tables, run workshop migrate --roles with all cells in --cells."
        yield* until("what to do", unavailableCells, ([cell]) => cell?.remedy === denied)
        // New shops open in the other cells.
        yield* on(ports, Effect.replicateEffect(openShop(), 2))
        expect(yield* session.run("select id from workshop_south.shop")).toHaveLength(1)
        yield* session.run(`grant usage on schema workshop_south to ${role}`)
        yield* until("no cell unavailable", unavailableCells, ({ length }) => length === 0)
        const versions = "from workshop_north.schema_migration where version > 20"
        yield* session.run(`create table kept as select * ${versions}; delete ${versions}`)
        yield* until("the cell that is behind", unavailableCells, ([cell]) => cell?.name === "north")
        expect(yield* unavailableCells).toEqual([
          {
            name: "north",
            remedy:
              "The cell north has an older schema than this program needs, or no schema. Run workshop migrate with the same --cells."
          }
        ])
        expect((yield* Effect.flip(on(ports, newTicket(inNorth!.id))))._tag).toBe("StoreUnavailable")
        yield* on(ports, newTicket(inHome!.id))
        expect(yield* complaints).toEqual([])
        yield* session.run("insert into workshop_north.schema_migration select * from kept")
        yield* until("no cell unavailable", unavailableCells, ({ length }) => length === 0)
        yield* on(ports, newTicket(inNorth!.id))
      }).pipe(withProbes)
    ))

  it("migrate refuses a shop that is in two cells, and a schema with shops of another installation", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* databaseOfCells
        const ports = yield* node({ url, cells: CELLS })
        const shops = yield* on(ports, Effect.replicateEffect(openShop(), 3))
        const [inHome, inNorth] = shops.map(({ id }) => id)
        yield* session.run(`insert into workshop_south.shop select * from workshop.shop where id = '${inHome}'`)
        expect(yield* refusalOf({ url, cells: CELLS })).toMatch(
          /^The cell south has more shops \(2\) than the directory in the home cell placed in it \(1\), as if only one of the two was restored from a backup\. Restore /
        )
        yield* session.run(`delete from workshop_south.shop where id = '${inHome}'`)
        yield* session.run(`insert into workshop.shop select * from workshop_north.shop where id = '${inNorth}'`)
        expect(yield* refusalOf({ url, cells: CELLS })).toMatch(
          new RegExp(`^The shop ${inNorth} is in two cells, home and north`)
        )
        const other = yield* testDatabase
        const alone = yield* node({ url: other.url })
        yield* on(alone, openShop())
        const cells = [...CELLS, { name: "east", url: other.url }]
        expect((yield* Effect.flip(migrate(url, { cells }))).message).toMatch(
          /^The database or schema for the new cell east already has shops/
        )
        expect(yield* session.run("select from workshop.cell where name = 'east'")).toEqual([])
      })
    ))
})
