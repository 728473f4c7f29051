import { Deliveries, RateLimits } from "@workshop/core/store"
import { migrate } from "@workshop/store-pg/migrate"
import { Cause, Effect, Exit, Scope } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { connect } from "../../src/connection/Connection.js"
import { create, database, node, numbers, runTest } from "../nodes/Node.js"
import { NO_POOLER, pooler } from "./Pooler.js"

const REFUSED = {
  _tag: "StoreUnavailable",
  message: expect.stringMatching(
    /^A connection pooler in transaction or statement mode .*\. Set the pooler to session mode/
  )
}

const SETTINGS = ["lock_timeout", "statement_timeout", "enable_seqscan", "plan_cache_mode", "synchronous_commit"]

describe(`through a real PgBouncer with its default settings${NO_POOLER === false ? "" : `: ${NO_POOLER}`}`, () => {
  it.skipIf(NO_POOLER !== false)(
    "a store works through a pooler in session mode, and every session has the store's settings",
    { timeout: 120_000 },
    () =>
      runTest(
        Effect.gen(function* () {
          const { url } = yield* database
          const through = yield* pooler(url, "session")
          expect(yield* migrate(through)).toEqual([])
          const ports = yield* node({ url: through })
          const shop = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(2)
          expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([1, 2])
          const take = { policy: "requests_per_minute", subject: "a key", time_zone: null } as const
          expect(
            yield* Effect.provide(
              Effect.flatMap(RateLimits, (limits) => limits.take([take], 0)),
              ports
            )
          ).toHaveLength(1)
          expect(
            yield* Effect.provide(
              Effect.flatMap(Deliveries, (queue) => queue.claim(0, 1)),
              ports
            )
          ).toEqual([])

          const session = yield* connect({ url: through, name: "a test", lock_timeout_ms: 25, isSynchronous: false })
          const sessionSettings = yield* session.send(
            SETTINGS.map((name) => ({ name: "", text: `show ${name}`, values: [] }))
          )
          expect(sessionSettings.map(({ rows }) => Object.values(rows[0]!)[0])).toEqual([
            "25ms",
            "3s",
            "off",
            "force_generic_plan",
            "off"
          ])
        })
      )
  )

  it.skipIf(NO_POOLER !== false)(
    "a store refuses a pooler in transaction mode, with a remedy",
    { timeout: 120_000 },
    () =>
      runTest(
        Effect.gen(function* () {
          const { url } = yield* database
          const ports = yield* node({ url: yield* pooler(url, "transaction") })
          expect(yield* Effect.flip(Effect.provide(openShop(), ports))).toMatchObject(REFUSED)
        })
      )
  )

  it.skipIf(NO_POOLER !== false)(
    "running nodes refuse a pooler that is switched to transaction mode, with the same message",
    { timeout: 120_000 },
    () =>
      runTest(
        Effect.gen(function* () {
          const { url } = yield* database
          const before = yield* Scope.make()
          const through = yield* Scope.extend(pooler(url, "session"), before)
          const nodes = [yield* node({ url: through }), yield* node({ url: through })]
          const all = Effect.forEach(nodes, (ports) => Effect.exit(Effect.provide(openShop(), ports)), {
            concurrency: "unbounded"
          })
          expect((yield* all).map(Exit.isSuccess)).toEqual([true, true])
          yield* Scope.close(before, Exit.void)
          yield* pooler(url, "transaction", Number(new URL(through).port))
          const failures = Effect.map(all, (exits) =>
            exits.flatMap((exit) => (Exit.isFailure(exit) ? [Cause.squash(exit.cause)] : []))
          )
          const refusals = yield* until("a refusal that names the pooler", failures, (errors) =>
            errors.some((error) => String(error).includes("A connection pooler in"))
          )
          expect(refusals).not.toEqual([])
        })
      )
  )
})
