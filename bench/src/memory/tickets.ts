// The memory store, in a process of its own. Each message has a number of tickets; the reply is the bytes that they take.

import { Entropy } from "@workshop/core"
import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, ManagedRuntime } from "effect"
import { createTicket } from "../../../packages/core/dist/decisions/createTicket.js"
import { openShop, run, ticketInput } from "../../../packages/core/dist/testing/Fixtures.js"
import { SettableClock } from "../../../packages/core/dist/testing/SettableClock.js"
import { answering } from "../deliver/Child.js"
import { neededBytes } from "./heap.js"

/** A question: the number of tickets that the store must hold. */
export interface Grow {
  readonly tickets: number
}

/** A shop may create this many tickets in an hour (Specification, Limits). */
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
let made = 0

const grow = (tickets: number) =>
  Effect.gen(function* () {
    while (made < tickets) {
      const { id } = yield* openShop()
      for (let n = 0; n < TICKETS_OF_SHOP && made < tickets; n++, made++)
        yield* run(createTicket(id, input, { via: "api", foundWords: [] }))
    }
  })

answering<Grow>({ ready: true }, async ({ tickets }) => {
  await runtime.runPromise(grow(tickets))
  return { bytes: neededBytes() }
})
