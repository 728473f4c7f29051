// The memory store in its own process. Each message has a number of tickets, and the reply has their size in bytes.

import { Entropy } from "@workshop/core"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime } from "effect"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { openShop, runCommand, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { SettableClock } from "../../../packages/core/dist/testing/SettableClock.js"
import { answerParent } from "../deliver/Child.js"
import { neededBytes } from "./heap.js"

/** A message: the number of tickets that the store must contain. */
export interface Grow {
  readonly tickets: number
}

/** The number of tickets that a shop may create in an hour (Specification, Limits). */
const TICKETS_OF_SHOP = 150

const runtime = ManagedRuntime.make(
  MemoryStore.layer.pipe(Layer.provideMerge(Layer.merge(Entropy.layer, new SettableClock().layer)))
)
const input = ticketInput({
  service: "Resoling",
  item: "Brown boots",
  description: "The left heel is worn more than the right one",
  client_phone: "+216 20 123 456",
  price_minor: 45_000,
  external_ref: "web-1001"
})
let count = 0

const grow = (tickets: number) =>
  Effect.gen(function* () {
    while (count < tickets) {
      const { id } = yield* openShop()
      for (let n = 0; n < TICKETS_OF_SHOP && count < tickets; n++, count++)
        yield* runCommand(createTicket(id, input, { via: "api", foundWords: [] }))
    }
  })

answerParent<Grow>({ ready: true }, async ({ tickets }) => {
  await runtime.runPromise(grow(tickets))
  return { bytes: neededBytes() }
})
