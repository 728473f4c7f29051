import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type Connection, makeReconnecting } from "../src/connection/Connection.js"
import { PgFailure } from "../src/connection/PgFailure.js"
import { PLANNED_ONCE } from "../src/connection/SessionClient.js"
import { sharedSessions } from "../src/connection/SharedSessions.js"
import { pgDeliveries } from "../src/deliveries/PgDeliveries.js"
import { openMigrationSession } from "../src/migrate/Session.js"
import { WebhookSecrets } from "../src/secrets/WebhookSecrets.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { runTest } from "./nodes/Node.js"

/**
 * Connections that fail the first statements with the error of a moved cell's old node, which forwards statements
 * without settings.
 */
const refusalCheck = (code: string, message: string, times: number) => {
  let left = times
  const makeConnection: typeof makeReconnecting = (config) =>
    Effect.map(makeReconnecting(config), (wire) =>
      Object.create(wire, {
        connection: {
          value: Effect.map(wire.connection, (connection): Connection => {
            const send: Connection["send"] = (...groups) =>
              left-- > 0
                ? Effect.fail(new PgFailure({ kind: "data", code, constraint: null, cause: new Error(message) }))
                : connection.send(...groups)
            return Object.create(connection, { send: { value: send } }) as Connection
          })
        }
      })
    )
  return { makeConnection, tried: () => times - left }
}

const turns = (code: string, message: string, times: number) =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    const secrets = yield* WebhookSecrets.of([])
    const { makeConnection, tried } = refusalCheck(code, message, times)
    const options = { leaseClock: "database", notifier: { due: Effect.never }, checkSecrets: Effect.void } as const
    const deliveries = yield* pgDeliveries({ url, secrets, makeConnection, ...options })
    const outcome = yield* Effect.exit(deliveries.turns(1, 10))
    return { outcome, tried: tried() }
  })

describe("A cell that has just moved on Citus (docs/scaling.md)", { timeout: 60_000 }, () => {
  it.each([
    ["22P02", 'malformed array literal: ""'],
    ["22P02", "fehlerhafte Arraykonstante: »«"],
    ["42704", 'unrecognized configuration parameter "workshop_claim.shops"']
  ])("a claim that fails with %s (%s), because its settings stayed on the old node, is retried", (code, message) =>
    runTest(
      Effect.gen(function* () {
        const { outcome } = yield* turns(code, message, 3)
        expect(outcome).toMatchObject({ _tag: "Success", value: [] })
      })
    )
  )

  it("each attempt to claim looks up the cell's node again, so that a retry uses the new node", () =>
    runTest(
      Effect.gen(function* () {
        const [old, moved] = [yield* testDatabase, yield* testDatabase]
        // The trigger raises the error of a statement that the old node forwards.
        yield* (yield* openMigrationSession(old.url)).run(`
          create function refuse() returns trigger language plpgsql as
            $$ begin raise exception 'malformed array literal: ""' using errcode = '22P02'; end $$;
          create trigger refuse before update on workshop.delivery_queue for each statement execute function refuse()`)
        const places = [old.url, old.url]
        const url = Effect.sync(() => places.shift() ?? moved.url)
        const makeConnection = (yield* sharedSessions)({ schema: "workshop", url, plans: () => PLANNED_ONCE })
        const options = { leaseClock: "database", notifier: { due: Effect.never }, checkSecrets: Effect.void } as const
        const secrets = yield* WebhookSecrets.of([])
        const deliveries = yield* pgDeliveries({ url: old.url, secrets, makeConnection, ...options })
        expect(yield* deliveries.turns(1, 10)).toEqual([])
      })
    ))

  it("a claim that fails at every attempt ends with StoreUnavailable and the database's last error", () =>
    runTest(
      Effect.gen(function* () {
        const { outcome } = yield* turns("22P02", 'malformed array literal: "x"', Number.POSITIVE_INFINITY)
        expect(outcome).toMatchObject({
          _tag: "Failure",
          cause: {
            _tag: "Fail",
            error: {
              _tag: "StoreUnavailable",
              cause: { message: expect.stringContaining('malformed array literal: "x"') }
            }
          }
        })
      })
    ))

  it("a claim that fails with another SQLSTATE is not retried", () =>
    runTest(
      Effect.gen(function* () {
        const { outcome, tried } = yield* turns("42703", 'column "x" does not exist', 3)
        expect([outcome._tag, tried]).toEqual(["Failure", 1])
      })
    ))
})
