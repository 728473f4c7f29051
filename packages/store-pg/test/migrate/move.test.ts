import { checkData, migrate } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { retention } from "../../src/retention/Retention.js"
import { testDatabase } from "../cluster/TestDatabase.js"
import { create, node, numbers, runTest } from "../nodes/Node.js"

const LONG = 120_000
const IN_PUBLIC = { schema: "public" }

/** A database with the tables of an earlier release in `public`, and with a table of the embedder. */
const oldDatabase = Effect.gen(function* () {
  const { url } = yield* testDatabase
  const session = yield* openMigrationSession(url)
  const [row] = yield* session.run<{ name: string }>("select current_database() as name")
  yield* session.run("drop schema workshop cascade")
  yield* session.run(`alter database ${row!.name} reset search_path`)
  yield* migrate(url, IN_PUBLIC)
  yield* session.run("create table public.customer (id integer)")
  return { url, session }
})

const NAMES = `select relname as name from pg_class where relnamespace = $1::regnamespace and relkind in ('r', 'p', 'S')
  union all select typname from pg_type where typnamespace = $1::regnamespace and typtype in ('d', 'c') and typrelid = 0
  union all select proname from pg_proc where pronamespace = $1::regnamespace order by 1`

describe("tables that an earlier release made in public", { timeout: LONG }, () => {
  it("migrate creates no second set of tables, and fails with an error that names their schema and the remedy", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* oldDatabase
        expect((yield* Effect.flip(migrate(url))).message).toBe(
          "The workshop's tables are in the schema public, where an earlier release created them. Move the tables with workshop migrate --move-from public, or keep them there with --schema public."
        )
        expect(yield* migrate(url, IN_PUBLIC)).toEqual([])
      })
    ))

  it("migrate --move-from moves all of these tables and nothing else, and a second move changes nothing", () =>
    runTest(
      Effect.gen(function* () {
        const { url, session } = yield* oldDatabase
        const shop = yield* Effect.scoped(
          Effect.gen(function* () {
            const ports = yield* node({ url, ...IN_PUBLIC })
            yield* (yield* retention({ url, ...IN_PUBLIC })).runOnce
            const opened = yield* Effect.provide(openShop(), ports)
            yield* Effect.provide(create(opened.id), ports)
            return opened
          })
        )
        const before = (yield* session.run<{ name: string }>(NAMES, ["public"])).map(({ name }) => name)
        yield* session.run(`create role ${ROLE(url)}; grant select on public.ticket to ${ROLE(url)}`)
        yield* Effect.addFinalizer(() =>
          Effect.orDie(session.run(`drop owned by ${ROLE(url)}; drop role ${ROLE(url)}`))
        )
        expect(yield* migrate(url, { moveFrom: "public" })).toEqual([])
        expect(yield* migrate(url, { moveFrom: "public" })).toEqual([])
        expect(yield* session.run(NAMES, ["public"])).toEqual([{ name: "customer" }])
        const after = (yield* session.run<{ name: string }>(NAMES, ["workshop"])).map(({ name }) => name)
        expect(after).toEqual(before.filter((name) => name !== "customer"))
        expect(
          yield* session.run(`select has_table_privilege('${ROLE(url)}', 'workshop.ticket', 'select')
            and has_schema_privilege('${ROLE(url)}', 'workshop', 'usage') as may`)
        ).toEqual([{ may: true }])
        const ports = yield* node({ url })
        yield* Effect.provide(create(shop.id), ports)
        expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([1, 2])
        // The functions use the tables in the new schema.
        yield* session.run(
          "insert into client_erasure values (gen_random_uuid(), '', '', '{}'); select rewrite_events('[]')"
        )
        yield* session.run("delete from client_erasure")
        expect((yield* (yield* retention({ url })).runOnce)?.missing).toEqual([])
        expect((yield* checkData(url, { timeoutMs: 60_000 })).findings).toEqual([])
      })
    ))

  it("migrate --move-from refuses to move the tables while processes are connected", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* oldDatabase
        const ports = yield* node({ url, ...IN_PUBLIC })
        yield* Effect.provide(openShop(), ports)
        expect((yield* Effect.flip(migrate(url, { moveFrom: "public" }))).message).toMatch(
          /^Processes of the workshop are connected to the database \(\d+ connections\)\. Stop these processes, because they would not find the tables after the move\.$/
        )
        yield* Effect.provide(openShop(), ports)
      })
    ))

  it("migrate --move-from moves nothing if both schemas have the workshop's tables, or if neither has", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        expect((yield* Effect.flip(migrate(url, { schema: "other", moveFrom: "nowhere" }))).message).toBe(
          "The schema nowhere does not have the workshop's tables. Correct --move-from."
        )
        yield* migrate(url, IN_PUBLIC)
        expect((yield* Effect.flip(migrate(url, { moveFrom: "public" }))).message).toBe(
          "The schemas public and workshop both have the workshop's tables. Omit --move-from, and choose one of the schemas with --schema."
        )
      })
    ))
})

const ROLE = (url: string) => `reader_${new URL(url).pathname.slice(1)}`
