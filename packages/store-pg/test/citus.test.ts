import { runContract, SettableClock } from "@workshop/core/testing"
import { migrate } from "@workshop/store-pg/migrate"
import { Effect, Layer } from "effect"
import { afterAll, describe, it } from "vitest"
import { connect } from "../src/migrate/Session.js"
import { layer } from "../src/PgStore.js"

const url = process.env.TEST_CITUS_URL

const leaseClock = Effect.map(SettableClock.current, (clock) => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))

const CELLS = [{ name: "north" }, { name: "south" }]

/** Cells on a Citus that others may use too: in schemas of their own, which are dropped afterwards. */
const cellsOnCitus = (at: string) =>
  Effect.gen(function* () {
    const schema = `test_${process.pid}_${process.hrtime.bigint().toString(36)}`
    const session = yield* connect(at)
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
    it("is not run", () => undefined))
else
  runContract(
    { describe, it, afterAll },
    "A store of three cells on Citus",
    Layer.unwrapScoped(Effect.map(cellsOnCitus(url), (schema) => layer({ url, schema, cells: CELLS, leaseClock }))),
    { timeout_ms: 120_000 }
  )
