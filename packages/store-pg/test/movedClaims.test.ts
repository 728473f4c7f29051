import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type Connection, reconnecting } from "../src/Connection.js"
import { pgDeliveries } from "../src/PgDeliveries.js"
import { PgFailure } from "../src/PgFailure.js"
import { WebhookSecrets } from "../src/WebhookSecrets.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { testing } from "./nodes/Node.js"

/** Connections that refuse the first statements as Citus does while the old node of a moved cell passes them on. */
const refusing = (code: string, message: string, times: number) => {
  let left = times
  const connecting: typeof reconnecting = (config) =>
    Effect.map(reconnecting(config), (wire) =>
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
  return { connecting, tried: () => times - left }
}

const turns = (code: string, message: string, times: number) =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    const secrets = yield* WebhookSecrets.of([])
    const { connecting, tried } = refusing(code, message, times)
    const given = { secrets, guard: Effect.void }
    const deliveries = yield* pgDeliveries({ url }, "database", { due: Effect.never }, given, connecting)
    const outcome = yield* Effect.exit(deliveries.turns(1, 10))
    return { outcome, tried: tried() }
  })

describe("A cell that has just moved on Citus (docs/scaling.md)", { timeout: 60_000 }, () => {
  it.each([
    ["22P02", 'malformed array literal: ""'],
    ["42704", 'unrecognized configuration parameter "workshop_claim.lanes"']
  ])("settings that were left behind on its old node are asked for again: %s", (code, message) =>
    testing(
      Effect.gen(function* () {
        const { outcome } = yield* turns(code, message, 3)
        expect(outcome).toMatchObject({ _tag: "Success", value: [] })
      })
    )
  )

  it("any other wrong value is a defect at once", () =>
    testing(
      Effect.gen(function* () {
        const { outcome, tried } = yield* turns("22P02", 'malformed array literal: "x"', 3)
        expect([outcome._tag, tried]).toEqual(["Failure", 1])
      })
    ))
})
