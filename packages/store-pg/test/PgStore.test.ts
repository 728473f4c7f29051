import { runContract, SettableClock } from "@workshop/core/testing"
import { Effect, Layer } from "effect"
import { afterAll, it } from "vitest"
import { layer } from "../src/PgStore.js"
import { describeExceptSubjects } from "./describeExceptSubjects.js"
import { databaseOfRoles } from "./migrate/TestRoles.js"
import { borrowedFrom } from "./nodes/Node.js"

/** The lease clock follows the virtual clock of the contract, so that the contract can let leases expire. */
const leaseClock = Effect.map(SettableClock.current, (clock) => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))

/**
 * Runs the contract on a caller's pool, as the service's role, with secrets keys, in a schema that is not called
 * workshop. statements.test.ts runs it on the store's own connections, without keys, in the default schema, and
 * PgCells.test.ts on several cells.
 */
const schema = "Branch_2"
const secretsKeys = ["0".repeat(64)]

runContract(
  {
    // These suites are skipped because a pool changes how the store gets a connection, not the statements that it
    // sends.
    describe: describeExceptSubjects(
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
