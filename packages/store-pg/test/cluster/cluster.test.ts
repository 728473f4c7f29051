import { Effect } from "effect"
import { expect, it } from "vitest"
import { openMigrationSession } from "../../src/migrate/Session.js"
import { copyOf, testDatabase } from "./TestDatabase.js"

it("each testDatabase is a new migrated database, which is dropped when its scope closes", async () => {
  await Effect.gen(function* () {
    const outlived = yield* Effect.scoped(
      Effect.gen(function* () {
        const [one, two] = [yield* testDatabase, yield* testDatabase]
        const [first, second] = [yield* openMigrationSession(one.url), yield* openMigrationSession(two.url)]
        yield* first.run("create table mine (n integer)")
        expect(yield* second.run("select to_regclass('mine') as mine")).toEqual([{ mine: null }])
        expect(yield* second.run("select count(*) > 0 as migrated from schema_migration")).toEqual([{ migrated: true }])
        return one
      })
    )
    const refused = yield* Effect.flip(Effect.scoped(openMigrationSession(outlived.url)))
    expect(refused.code).toBe("3D000")
  }).pipe(Effect.runPromise)
}, 30_000)

it("copyOf copies a test database with its data", async () => {
  await Effect.gen(function* () {
    const original = yield* testDatabase
    yield* Effect.scoped(
      Effect.flatMap(openMigrationSession(original.url), ({ run }) => run("create table mine as select 7 as n"))
    )
    const { run } = yield* openMigrationSession((yield* copyOf(original)).url)
    expect(yield* run("update mine set n = n + 1 returning n")).toEqual([{ n: 8 }])
    const first = yield* openMigrationSession(original.url)
    expect(yield* first.run("select n from mine")).toEqual([{ n: 7 }])
  }).pipe(Effect.scoped, Effect.runPromise)
}, 30_000)
