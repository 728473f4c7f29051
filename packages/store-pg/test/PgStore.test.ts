import { runContract, SettableClock } from "@workshop/core/testing"
import { Effect, Layer } from "effect"
import { afterAll, describe, it } from "vitest"
import { layer } from "../src/PgStore.js"
import { databaseOfRoles } from "./migrate/TestRoles.js"

/** Leases are told by the nanoseconds of the running clock, as the contract wants it. */
const leaseClock = Effect.map(SettableClock.current, (clock) => Number(clock.unsafeCurrentTimeNanos() / 1_000_000n))

/**
 * The contract holds for the service's role, with keys and in a schema of another name; statements.test.ts runs it for the owner,
 * without keys and in the default schema.
 */
const schema = "Branch_2"
const secretsKeys = ["0".repeat(64)]

runContract(
  { describe, it, afterAll },
  "The Postgres store",
  Layer.unwrapScoped(
    Effect.map(databaseOfRoles({ schema }), ({ service: url }) => layer({ url, schema, leaseClock, secretsKeys }))
  )
)
