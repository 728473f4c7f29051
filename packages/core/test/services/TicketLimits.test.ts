import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { defaultLimits } from "../../src/domain/Limits.js"
import { PolicyLimits } from "../../src/ports/PolicyLimits.js"
import { Tickets } from "../../src/services/Tickets.js"
import { ticketInput } from "../../src/testing/Fixtures.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import { openShop, refusalOf, ticketId, workshopLayer } from "./WorkshopFixture.js"

describe("the embedder's daily limits of one ticket", () => {
  it("limits that the embedder provides replace the defaults", () => {
    const clock = new SettableClock()
    const bounds = Layer.succeed(PolicyLimits, { ...defaultLimits, moves_per_day: 1, notifications_per_day: 0 })
    const program = Effect.gen(function* () {
      const caller = yield* openShop()
      const tickets = yield* Tickets
      const { data } = yield* tickets.create(caller, ticketInput({ service: "Hem" }))
      const id = ticketId(data)
      expect(yield* refusalOf(tickets.recordNotified(caller, id, "sms"))).toBe("LimitReached")
      yield* tickets.changeStatus(caller, id, "ready")
      const refusal = yield* Effect.flip(tickets.changeStatus(caller, id, "workshop"))
      expect(refusal.message).toBe(
        "The limit is 1 changes of state per ticket and day, and no uses are left. Try again when the limit resets."
      )
    })
    return program.pipe(
      Effect.provide(Layer.provide(workshopLayer(clock, 5), bounds)),
      Effect.withClock(clock),
      Effect.runPromise
    )
  })
})
