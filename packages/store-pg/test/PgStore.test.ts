import { runContract, SettableClock } from "@workshop/core/testing"
import { Effect, Layer } from "effect"
import { afterAll, it } from "vitest"
import { layer } from "../src/PgStore.js"
import { databaseOfRoles } from "./migrate/TestRoles.js"
import { borrowedFrom } from "./nodes/Node.js"
import { describeBut } from "./subjects.js"

/** Leases are measured by the nanoseconds of the running clock, because the contract requires it. */
const leaseClock = Effect.map(SettableClock.current, (clock) => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))

/**
 * The contract holds on a caller's pool, for the service's role, with keys and in a schema of another name. statements.test.ts runs it on
 * connections of the store's own, without keys and in the default schema, and PgCells.test.ts on such connections with several cells.
 */
const schema = "Branch_2"
const secretsKeys = ["0".repeat(64)]

runContract(
  {
    // A pool changes how a connection is found for a command, a claim or a read, and not what is sent on it.
    describe: describeBut(
      "Store: changes of clients",
      "Reads: the list",
      "Reads: the sync",
      "Deliveries",
      "Deliveries: order of claims",
      "Deliveries: replays",
      "DeliveryLog"
    ),
    it,
    afterAll
  },
  "The Postgres store",
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const { service: url } = yield* databaseOfRoles({ schema })
      return layer({ url, schema, leaseClock, secretsKeys, pool: yield* borrowedFrom(url) })
    })
  )
)
