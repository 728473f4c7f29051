import { Probes } from "@workshop/core"
import { unavailableCells } from "@workshop/core/internal"
import { runContract, SettableClock } from "@workshop/core/testing"
import { addCell, balanceCells, listCells, migrate, moveCell, removeCell, rolesSql } from "@workshop/store-pg/migrate"
import { Effect, Exit, Fiber, Layer, Metric, Schedule } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { until } from "../../../test/until.js"
import { openShop } from "../../core/src/testing/Fixtures.js"
import { applyMigrations } from "../src/cells/CellMigrations.js"
import { PACKAGE_MIGRATIONS } from "../src/migrate/Migration.js"
import { openMigrationSession } from "../src/migrate/Session.js"
import { layer } from "../src/PgStore.js"
import { retention } from "../src/retention/Retention.js"
import { withProbes } from "./failures/notReadyReasons.js"
import { as, renameRoles, roleIn } from "./migrate/TestRoles.js"
import { create, node, numbers, runTest } from "./nodes/Node.js"

const url = process.env.TEST_CITUS_URL

const leaseClock = Effect.map(SettableClock.current, (clock) => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))

const CELLS = [{ name: "north" }, { name: "south" }]

const rolesOf = (at: string) => [roleIn(at, "workshop_service"), roleIn(at, "workshop_reader")]

const dropRoles = (at: string) =>
  Effect.scoped(
    Effect.flatMap(openMigrationSession(at), ({ run }) =>
      run(`drop owned by ${rolesOf(at)} cascade; drop role ${rolesOf(at)}`)
    )
  )

/** Creates cells in new schemas, which are dropped afterwards, because other tests may use the same Citus cluster. */
const cellsOnCitus = (at: string) =>
  Effect.gen(function* () {
    const schema = `test_${process.pid}_${process.hrtime.bigint().toString(36)}`
    const session = yield* openMigrationSession(at)
    yield* Effect.addFinalizer(() =>
      Effect.forEach([schema, `${schema}_north`, `${schema}_south`], (one) =>
        Effect.orDie(session.run(`drop schema if exists ${one} cascade`))
      )
    )
    yield* migrate(at, { schema, cells: CELLS })
    return schema
  }).pipe(Effect.orDie)

if (url === undefined)
  describe.skip("Three cells on Citus: set TEST_CITUS_URL to the coordinator of a cluster with two workers", () =>
    it("the cases on Citus are not run without TEST_CITUS_URL", () => undefined))
else {
  runContract(
    { describe, it, afterAll },
    "A store of three cells on Citus",
    Layer.unwrapScoped(Effect.map(cellsOnCitus(url), (schema) => layer({ url, schema, cells: CELLS, leaseClock }))),
    { timeoutMs: 120_000 }
  )

  describe("The roles on Citus (docs/scaling.md, Roles and passwords on Citus)", { timeout: 120_000 }, () => {
    it("after the roles were granted twice, the service's role can use every cell, even directly on its worker", () =>
      runTest(
        Effect.gen(function* () {
          const schema = yield* cellsOnCitus(url)
          const roles = rolesOf(url)
          const granting = Effect.forEach(["", "_north", "_south"], (cell) =>
            Effect.scoped(
              Effect.flatMap(openMigrationSession(url, { schema: schema + cell }), ({ run }) =>
                run(renameRoles(url, rolesSql({ schema: schema + cell })))
              )
            )
          )
          yield* Effect.addFinalizer(() => Effect.exit(dropRoles(url)))
          yield* granting
          yield* granting
          const ports = yield* node({ url: as(url, roles[0]!), schema, cells: CELLS })
          const shops = yield* Effect.provide(Effect.replicateEffect(openShop(), 2), ports)
          for (const { id } of shops) {
            expect(yield* Effect.provide(create(id), ports)).toBe(1)
            expect(yield* Effect.provide(numbers(id), ports)).toEqual([1])
          }
          // Every gauge is a number. NaN would mean that the role may not read a cell.
          for (const { measure = Effect.void } of (yield* Probes) ?? []) yield* measure
          const gauges = Metric.unsafeSnapshot().flatMap(({ metricKey, metricState }) =>
            /^workshop_(deliveries_|webhooks_off|pg_oldest_|pg_clock)/.test(metricKey.name) && "value" in metricState
              ? [{ of: `${metricKey.name} ${[...metricKey.tags].map(({ value }) => value)}`, value: metricState.value }]
              : []
          )
          expect(gauges.filter(({ of }) => /(home|north|south)$/.test(of))).toHaveLength(18)
          expect(gauges.filter(({ value }) => Number.isNaN(value))).toEqual([])
          const refused = yield* Effect.exit(
            node({ url: as(url, roles[1]!), schema, cells: CELLS }).pipe(
              Effect.flatMap((reader) => Effect.provide(create(shops[0]!.id), reader))
            )
          )
          expect(Exit.isFailure(refused)).toBe(true)
        }).pipe(withProbes)
      ))
  })

  describe("A cell that was added before the roles were granted again (docs/scaling.md)", { timeout: 120_000 }, () => {
    it("the log names the cell and the remedy, only its shops are unavailable, and the other cells are served on their workers", () =>
      runTest(
        Effect.gen(function* () {
          const schema = yield* cellsOnCitus(url)
          const role = roleIn(url, "workshop_service")
          yield* Effect.addFinalizer(() => Effect.exit(dropRoles(url)))
          const granted = (cell: string) =>
            Effect.scoped(
              Effect.flatMap(openMigrationSession(url, { schema: schema + cell }), ({ run }) =>
                run(renameRoles(url, rolesSql({ schema: schema + cell })))
              )
            )
          yield* Effect.forEach(["", "_north"], granted)
          const ports = yield* node({ url: as(url, role), schema, cells: CELLS })
          yield* until("what to do", unavailableCells, ([found]) => found?.remedy !== undefined)
          expect(yield* unavailableCells).toEqual([
            {
              name: "south",
              remedy: expect.stringMatching(
                /may not read the cell south\. As the owner of the tables, run workshop migrate --roles/
              )
            }
          ])
          const { id } = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(id), ports)).toBe(1)
          expect(yield* Effect.provide(numbers(id), ports)).toEqual([1])
          yield* granted("_south")
          yield* until("no cell unavailable", unavailableCells, ({ length }) => length === 0)
          const other = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(other.id), ports)).toBe(1)
        }).pipe(withProbes)
      ))
  })

  describe("Cells that Citus distributed before their tables were renamed", { timeout: 120_000 }, () => {
    it("0033 renames the tables of distributed cells and keeps their rows, and a node serves the cells", () =>
      runTest(
        Effect.gen(function* () {
          const schema = `test_${process.pid}_${process.hrtime.bigint().toString(36)}`
          const session = yield* openMigrationSession(url)
          const schemas = [schema, `${schema}_north`, `${schema}_south`]
          yield* Effect.addFinalizer(() =>
            Effect.forEach(schemas, (one) => Effect.orDie(session.run(`drop schema if exists ${one} cascade`)))
          )
          for (const one of schemas) yield* applyMigrations(url, { schema: one }, PACKAGE_MIGRATIONS.slice(0, 32))
          for (const { name } of CELLS) {
            const cell = `${schema}_${name}`
            for (const table of ["rate_limit", "server_life"])
              yield* session.run(`alter table ${cell}.${table} set logged`)
            yield* session.run(`select citus_schema_distribute('${cell}'::regnamespace)`)
            yield* session.run(`insert into ${cell}.mark values ('cell:${name}'), ('cell_id:id_${name}')`)
            yield* session.run(
              `insert into ${cell}.remembered values (gen_random_uuid(), 'till', 'create', '${name}', '', '{}', 1)`
            )
            yield* session.run(
              `insert into ${cell}.message values (gen_random_uuid(), gen_random_uuid(), 'owner', 0, 1)`
            )
          }
          yield* session.run(`insert into ${schema}.cell (name, takes_shops, shops, id)
            values ('home', false, 0, null), ('north', true, 0, 'id_north'), ('south', true, 0, 'id_south')`)
          const names = yield* migrate(url, { schema, cells: CELLS })
          expect(names.filter((name) => name.includes("0033"))).toHaveLength(3)
          for (const { name } of CELLS) {
            const cell = `${schema}_${name}`
            expect(
              yield* session.run(`select r.key, r.response, (select count(*)::integer from ${cell}.queued_notification) as queued
                from ${cell}.idempotency_record r`)
            ).toEqual([{ key: name, response: "{}", queued: 1 }])
            yield* session.run(`delete from ${cell}.queued_notification; delete from ${cell}.idempotency_record`)
          }
          const ports = yield* node({ url, schema, cells: CELLS })
          const shops = yield* Effect.provide(Effect.replicateEffect(openShop(), 2), ports)
          for (const { id } of shops) expect(yield* Effect.provide(create(id), ports)).toBe(1)
          expect((yield* listCells(url, { schema, cells: CELLS })).map(({ state }) => state)).toEqual([
            "ready",
            "ready",
            "ready"
          ])
          const { runOnce } = yield* retention({ url, schema: `${schema}_north` })
          expect((yield* runOnce)?.missing).toEqual([])
        })
      ))
  })

  describe("Cells that Citus moves (docs/scaling.md)", { timeout: 300_000 }, () => {
    it("moving a cell under load neither loses nor repeats a confirmed command, and reports how long writes paused", () =>
      runTest(
        Effect.gen(function* () {
          const schema = yield* cellsOnCitus(url)
          const ports = yield* node({ url, schema, cells: CELLS })
          const shops = yield* Effect.provide(Effect.replicateEffect(openShop(), 8), ports)
          const before = yield* listCells(url, { schema, cells: CELLS })
          const [, north, south] = before
          expect(before.map(({ state, shops }) => [state, shops])).toEqual([
            ["ready", 0],
            ["ready", 4],
            ["ready", 4]
          ])
          const to = north!.node === south!.node ? undefined : south!.node
          expect(to, "the cells begin on different workers").toBeDefined()
          const answers = yield* Effect.fork(
            Effect.forEach(
              shops,
              ({ id }) =>
                Effect.provide(create(id), ports).pipe(
                  Effect.exit,
                  Effect.delay("150 millis"),
                  Effect.replicateEffect(100),
                  Effect.map((exits) => ({ id, exits }))
                ),
              { concurrency: "unbounded" }
            )
          )
          const moved = yield* moveCell(url, { name: "north", node: to!, schema })
          expect(moved).toMatchObject({ name: "north", from: north!.node, to })
          expect(moved.longest_pause_ms).toBeGreaterThan(0)
          for (const { id, exits } of yield* Fiber.join(answers)) {
            const answered = exits.filter(Exit.isSuccess).map(({ value }) => value)
            const stored = yield* Effect.provide(numbers(id), ports).pipe(Effect.retry(Schedule.recurs(20)))
            expect(answered.filter((number) => !stored.includes(number))).toEqual([])
            expect(new Set(stored).size).toBe(stored.length)
            expect(stored.length).toBeLessThanOrEqual(exits.length)
          }
          expect((yield* listCells(url, { schema, cells: CELLS }))[1]!.node).toBe(to)
          // The process connects to the cell on its new node, and claims deliveries there.
          expect(yield* Effect.provide(create(shops[0]!.id), ports)).toBeGreaterThan(0)
          expect(yield* moveCell(url, { name: "north", node: to!, schema })).toMatchObject({ took_ms: 0 })
          const balanced = yield* balanceCells(url, { schema })
          for (const one of balanced) expect(one.from).not.toBe(one.to)
        })
      ))

    it("balance counts only cells of the directory, not schemas that removed cells left behind", () =>
      runTest(
        Effect.gen(function* () {
          const schema = yield* cellsOnCitus(url)
          const session = yield* openMigrationSession(url)
          const nodes = yield* listCells(url, { schema, cells: CELLS })
          const workers = nodes.slice(1).map(({ node }) => node)
          expect(new Set(workers).size).toBe(2)
          // One worker then has one cell and two left-behind schemas, and the other worker has one cell.
          for (const name of ["gone", "lost"]) {
            yield* Effect.addFinalizer(() =>
              Effect.orDie(session.run(`drop schema if exists ${schema}_${name} cascade`))
            )
            yield* addCell(url, { name }, { schema })
            yield* moveCell(url, { name, node: workers[0]!, schema })
            yield* removeCell(url, name, { schema })
          }
          expect(yield* balanceCells(url, { schema })).toEqual([])
          yield* moveCell(url, { name: "south", node: workers[0]!, schema })
          expect(yield* balanceCells(url, { schema })).toMatchObject([{ from: workers[0], to: workers[1] }])
        })
      ))

    it("a move is refused if the role does not own the tables, or if the coordinator cannot reach one of the two workers", () =>
      runTest(
        Effect.gen(function* () {
          const schema = yield* cellsOnCitus(url)
          const session = yield* openMigrationSession(url)
          const [, north] = yield* listCells(url, { schema, cells: CELLS })
          const [host, port] = north!.node.split(":") as [string, string]
          const role = `${schema}_mover`
          yield* session.run(
            `create role ${role} login; grant usage on schema ${schema}, ${schema}_north to ${role};
             grant select on all tables in schema ${schema} to ${role}; grant update on ${schema}_north.database_label to ${role}`
          )
          yield* Effect.addFinalizer(() => Effect.orDie(session.run(`drop owned by ${role}; drop role ${role}`)))
          const nodes = yield* session.run<{ readonly node: string }>(
            "select nodename || ':' || nodeport as node from pg_dist_node where shouldhaveshards order by nodeid"
          )
          const other = nodes.map(({ node }) => node).find((node) => node !== north!.node)!
          const refusal = (at: string, to: string) =>
            Effect.map(Effect.flip(moveCell(at, { name: "north", node: to, schema })), ({ message }) => message)
          const theirs = Object.assign(new URL(url), { username: role }).href
          expect(yield* refusal(theirs, other)).toBe(
            `The database role of --database-url may not change the cells. Use the role that owns their tables, such as workshop_owner, or a superuser (Postgres reported: must be owner of schema ${schema}_north).`
          )
          // Port 1 simulates a lost worker, because no server listens there.
          const place = (at: string, was: string) =>
            session.run("update pg_dist_node set nodeport = $1 where nodename = $2 and nodeport = $3", [at, host, was])
          const lost = (port: string) => Effect.acquireRelease(place("1", port), () => Effect.orDie(place(port, "1")))
          const [, otherPort] = other.split(":") as [string, string]
          expect(yield* Effect.scoped(Effect.zipRight(lost(otherPort), refusal(url, `${host}:1`)))).toBe(
            `The coordinator cannot reach the worker ${host}:1. Start that worker, or move the cell north to another worker.`
          )
          yield* lost(port)
          expect(yield* refusal(url, other)).toBe(
            `The coordinator cannot reach the worker ${host}:1, from which the cell north would be copied. Start that worker. If it is lost, promote its standby and register the standby with citus_update_node, or restore the cell from a backup.`
          )
        })
      ))

    it("a move is refused if the cell is the home cell or unknown, or if the target node is not a worker", () =>
      runTest(
        Effect.gen(function* () {
          const schema = yield* cellsOnCitus(url)
          const refusal = (name: string, to: string) =>
            Effect.map(Effect.flip(moveCell(url, { name, node: to, schema })), ({ message }) => message)
          expect(yield* refusal("home", "db9:1")).toBe(
            "The home cell cannot be moved from the coordinator, because it contains the directory of the cells and is not distributed."
          )
          expect(yield* refusal("west", "db9:1")).toBe("There is no cell west. List the cells with workshop cell list.")
          expect(yield* refusal("north", "db9:1")).toMatch(
            /^Citus has no worker db9:1. Choose one of .+, or add the worker with citus_add_node\.$/
          )
        })
      ))
  })
}
