import { randomUUID } from "node:crypto"
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { until } from "../../../../test/until.js"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { outcomeOf, putReceipt, RECEIPT_STEP } from "../../src/commands/CommandBatch.js"
import { BEGIN, COMMIT, connect, makeReconnecting } from "../../src/connection/Connection.js"
import type { Session } from "../../src/migrate/Session.js"
import { create, database, node, numbers, runTest } from "../nodes/Node.js"
import { waitingForStandby } from "./WaitingForStandby.js"

const OPTIONS = { name: "a test", lock_timeout_ms: 25 }

/** A connection for a batch, the batch's receipt, and another connection that looks the receipt up. */
const batch = Effect.gen(function* () {
  const { url } = yield* database
  const connection = yield* connect({ url, ...OPTIONS })
  const receipt = { connection: connection.id, batch: 7 * RECEIPT_STEP, saved_at: Date.now() }
  return { connection, receipt, wire: yield* makeReconnecting({ url, ...OPTIONS }) }
})

describe.concurrent("the outcome of a batch whose result was lost", { timeout: 60_000 }, () => {
  it("the outcome of a batch with a receipt is committed, at every look-up", () =>
    runTest(
      Effect.gen(function* () {
        const { connection, receipt, wire } = yield* batch
        yield* connection.send([BEGIN, putReceipt(receipt), COMMIT])
        expect([yield* outcomeOf(wire, receipt), yield* outcomeOf(wire, receipt)]).toEqual(["committed", "committed"])
      })
    ))

  it("the outcome of a batch without a receipt is aborted, and its transaction can no longer commit even if it is still open", () =>
    runTest(
      Effect.gen(function* () {
        const { connection, receipt, wire } = yield* batch
        yield* connection.send([BEGIN])
        expect([yield* outcomeOf(wire, receipt), yield* outcomeOf(wire, receipt)]).toEqual(["aborted", "aborted"])
        expect((yield* Effect.flip(connection.send([putReceipt(receipt), COMMIT]))).code).toBe("22012")
        const next = { ...receipt, connection: randomUUID() }
        expect(yield* outcomeOf(wire, next)).toBe("aborted")
      })
    ))

  it("the look-up of a receipt waits while the transaction that wrote the receipt is open", () =>
    runTest(
      Effect.gen(function* () {
        const { connection, receipt, wire } = yield* batch
        yield* connection.send([BEGIN, putReceipt(receipt)])
        const lookUp = yield* Effect.fork(outcomeOf(wire, receipt))
        yield* Effect.yieldNow()
        yield* connection.send([COMMIT])
        expect(yield* Fiber.join(lookUp)).toBe("committed")
      })
    ))
})

/** Cancels or terminates the first session that waits for the standby. */
const toWaiting = (session: Session, act: "pg_cancel_backend" | "pg_terminate_backend") =>
  until(
    "a session that waits for the standby",
    session.run(
      `select ${act}(pid) from pg_stat_activity where wait_event = 'SyncRep' and application_name like 'workshop lane%'`
    ),
    (rows) => rows.length > 0
  )

describe("a commit that waits for a synchronous standby", () => {
  it.each(["pg_cancel_backend", "pg_terminate_backend"] as const)(
    "if %s ends a commit's wait, the command fails with StoreUnavailable, and its ticket exists once the standby is back",
    { timeout: 120_000 },
    (act) =>
      runTest(
        Effect.gen(function* () {
          const { url, session, waitFor, commitsWait } = yield* waitingForStandby
          const ports = yield* node({ url, lanes: 1 })
          const shop = yield* Effect.provide(openShop(), ports)
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(1)
          yield* commitsWait
          const waiting = yield* Effect.fork(Effect.flip(Effect.provide(create(shop.id), ports)))
          yield* toWaiting(session, act)
          expect((yield* Fiber.join(waiting))._tag).toBe("StoreUnavailable")
          yield* waitFor("")
          expect(yield* Effect.provide(create(shop.id), ports)).toBe(3)
          expect(yield* Effect.provide(numbers(shop.id), ports)).toEqual([1, 2, 3])
        })
      )
  )
})
