import { Entropy } from "@workshop/core"
import { Directory } from "@workshop/core/store"
import { checkSchema, grantRoles, migrate } from "@workshop/store-pg/migrate"
import { Effect, Layer, type Scope } from "effect"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { openShop, putChanges, runCommand } from "../../core/src/testing/Fixtures.js"
import { inSchema, lockOf } from "../src/connection/Schema.js"
import { openMigrationSession } from "../src/migrate/Session.js"
import { layer } from "../src/PgStore.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { create, node, numbers, runTest } from "./nodes/Node.js"

const LONG = 60_000

describe("the schema of a store", { timeout: LONG }, () => {
  it("a schema option replaces workshop in the names of tables, functions and sequences, but not in comments and settings", () => {
    const text = `select /* workshop read ticket */ nextval('workshop.api_key_insert_order_seq'), current_setting('workshop_claim.shops')
      from workshop.ticket t join workshop."shop" s on s.id = t.shop_id where s.name = $1`
    expect(inSchema(text)).toBe(text)
    expect(inSchema(text, "Branch_2")).toBe(
      `select /* workshop read ticket */ nextval('"Branch_2".api_key_insert_order_seq'), current_setting('workshop_claim.shops')
      from "Branch_2".ticket t join "Branch_2"."shop" s on s.id = t.shop_id where s.name = $1`
    )
  })

  it.each(["", "1st", "two words", "a-b", 'a"b', "é", "pg_mine", "information_schema", "a".repeat(64)])(
    "a schema name that Postgres would not accept is refused with a remedy: %s",
    (schema) =>
      runTest(
        Effect.gen(function* () {
          const { url } = yield* testDatabase
          const sentence =
            /^".{0,64}" is not a valid name for a schema\. A name has 1 to 63 letters, digits and underscores, and does not begin with a digit or pg_\. Check the store's schema\.$/
          const layered = Effect.provide(Layer.build(layer({ url, schema })), Entropy.layer)
          for (const refused of [
            migrate(url, { schema }),
            checkSchema(url, { schema }),
            grantRoles(url, { schema }),
            layered
          ])
            expect((yield* Effect.flip(refused as Effect.Effect<unknown, Error, Scope.Scope>)).message).toMatch(
              sentence
            )
        })
      )
  )

  it("two installations in one database neither read nor lock each other's rows, nor receive each other's notifications", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const schema = "branch"
        // The migration does not wait for another schema's migration lock, because each schema has its own lock.
        const holder = yield* openMigrationSession(url)
        yield* holder.run(`select pg_advisory_lock(${lockOf(7305808)})`)
        expect((yield* migrate(url, { schema })).length).toBeGreaterThan(20)
        const [main, branch] = [yield* node({ url }), yield* node({ url, schema })]
        const [shop, otherShop] = [yield* Effect.provide(openShop(), main), yield* Effect.provide(openShop(), branch)]
        yield* Effect.provide(create(shop.id), main)
        yield* Effect.provide(create(otherShop.id), branch)
        expect(yield* Effect.provide(numbers(otherShop.id), branch)).toEqual([1])
        const shops = (ports: typeof main) =>
          Effect.provide(
            Effect.flatMap(Directory, (port) => port.listShops(null, 100)),
            ports
          )
        expect((yield* shops(main)).map(({ id }) => id)).toEqual([shop.id])
        expect((yield* shops(branch)).map(({ id }) => id)).toEqual([otherShop.id])

        const notifications: Array<string> = []
        const listener = new pg.Client({ connectionString: url })
        yield* Effect.acquireRelease(
          Effect.promise(() => listener.connect()),
          () => Effect.promise(() => listener.end())
        )
        const heardOne = new Promise<void>((resolve) => {
          listener.on("notification", ({ channel }) => {
            notifications.push(channel)
            resolve()
          })
        })
        yield* Effect.promise(() => listener.query("listen workshop; listen branch"))
        yield* Effect.provide(runCommand(putChanges(otherShop.id, { _tag: "ShopPut", row: otherShop })), branch)
        yield* Effect.promise(() => heardOne)
        expect(notifications).toEqual(["branch"])
      })
    ))
})
