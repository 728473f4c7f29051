import * as fc from "fast-check"

const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * Indices of 2 shops, 2 callers for each shop, and 3 clients; those of tickets and offers count modulo their number.
 */
const shop = fc.nat({ max: 1 })
const caller = fc.nat({ max: 1 })
const client = fc.nat({ max: 2 })
const ticket = fc.nat({ max: 30 })
const key = fc.constantFrom("k1", "k2", "k3", "k4", "k5")

/** Mostly the same card and caller, so that the stamps of a day are used up. */
const loyalty = {
  shop: fc.constantFrom(0, 0, 0, 1),
  caller: fc.constantFrom(0, 0, 0, 1),
  client: fc.constantFrom(0, 0, 0, 1, 2),
  key: fc.oneof({ weight: 1, arbitrary: key }, { weight: 3, arbitrary: fc.uuid() })
}

/** An act of a shop, a client or the clock. */
export const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      shop,
      caller,
      key: fc.option(key, { freq: 1 }),
      service: fc.constantFrom("Hem", "Zip"),
      client: fc.option(client, { freq: 2 }),
      phone: fc.option(fc.nat({ max: 3 }), { freq: 3 }),
      money: fc.constantFrom([null, null], [5000, null], [5000, 1000], [null, 700], [0, 0])
    })
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("status" as const),
      shop: fc.option(shop, { freq: 9, nil: 9 }),
      ticket,
      to: fc.constantFrom("ready", "impossible", "workshop", "collected", "ready", "collected")
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("notified" as const), ticket, channel: fc.constantFrom("sms", "call") })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("quote" as const), ticket, price: fc.constantFrom(900, 6000) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("answerQuote" as const),
      ticket,
      status: fc.constantFrom("accepted", "refused", "accepted")
    })
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("visit" as const), shop, client }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("answerOffer" as const),
      client,
      offer: fc.nat({ max: 9 }),
      status: fc.constantFrom("accepted", "accepted", "accepted", "blocked")
    })
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("stamps" as const),
      ...loyalty,
      count: fc.constantFrom(1, 5, 10, 10)
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("redeem" as const), ...loyalty })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("settings" as const),
      shop,
      change: fc.constantFrom(
        { program: false },
        { program: true },
        { program: true, per_ticket: 3 },
        { required: 4 },
        { next: 9998 }
      )
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("time" as const),
      ms: fc.constantFrom(
        1,
        1000,
        -1000,
        HOUR,
        HOUR,
        3 * HOUR,
        23 * HOUR,
        DAY,
        DAY + 1,
        -2 * HOUR,
        29 * DAY,
        30 * DAY,
        59 * DAY,
        60 * DAY
      )
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("close" as const) }) },
  // The same request once more, with the same key.
  { weight: 5, arbitrary: fc.record({ do: fc.constant("again" as const), back: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crowd" as const), shop }) }
)

/** An act of a shop, a client or the clock. */
export type Act = typeof act extends fc.Arbitrary<infer A> ? A : never
