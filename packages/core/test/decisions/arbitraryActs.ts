import fc from "fast-check"
import type { Command } from "../../src/decisions/Command.js"
import { changeStatus, closeTicket, recordNotified } from "../../src/decisions/changeStatus.js"
import { answerOffer, recordVisit } from "../../src/decisions/clientLink.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import { editTicket } from "../../src/decisions/editTicket.js"
import { giveStamps, redeemReward } from "../../src/decisions/giveStamps.js"
import { answerQuote, proposeQuote } from "../../src/decisions/quotes.js"
import { changeShop } from "../../src/decisions/shopSettings.js"
import { announceDelay, recordPart } from "../../src/decisions/ticketProgress.js"
import { pingWebhook } from "../../src/decisions/webhookSettings.js"
import type { OfferId, TicketId } from "../../src/domain/Identifier.js"
import type { TicketStatus } from "../../src/domain/TicketLifecycle.js"
import { AMIRA, DAY, HOUR, KARIM, KEY, OTHER_KEY, SHOP, type TestShop, ticketInput } from "./fixtures.js"

const PEOPLE = { Amira: AMIRA, Karim: KARIM }
type Person = keyof typeof PEOPLE

/**
 * An act on a shop; `which` selects one of its tickets or offers. Acts are plain objects, so that fast-check can print
 * them.
 */
export type Act =
  | readonly [act: "wait", ms: number]
  | readonly [act: "create", fields: { client?: Person; phone?: Person; deposit_minor?: number }]
  | readonly [act: "move", which: number, status: TicketStatus]
  | readonly [act: "close" | "notified" | "delay" | "part", which: number]
  | readonly [act: "quote" | "edit price" | "edit deposit", which: number, amount: number]
  | readonly [act: "answer quote", which: number, answer: "accepted" | "refused"]
  | readonly [act: "answer offer", which: number, answer: "accepted" | "blocked"]
  | readonly [act: "visit", who: Person]
  | readonly [act: "stamps", who: Person, key: 0 | 1, count: number]
  | readonly [act: "redeem", who: Person]
  | readonly [act: "program", active: boolean, stamps_required: number, stamps_per_ticket: number]
  | readonly [act: "ping"]

const which = fc.nat(7)
const amount = fc.nat(9)
const person = fc.constantFrom<Person>("Amira", "Karim")
const status = fc.constantFrom<TicketStatus>("ready", "impossible", "workshop", "collected")
const one = <A extends Act[0]>(...acts: ReadonlyArray<A>) => fc.constantFrom(...acts)

/** Arbitraries of every act. `wait` can also set the clock back. */
export const arbitrary = {
  wait: fc.tuple(one("wait"), fc.oneof(fc.constantFrom(0, 1, -HOUR, DAY, 60 * DAY), fc.nat(30 * HOUR))),
  create: fc.tuple(
    one("create"),
    fc.record({ client: person, phone: person, deposit_minor: amount }, { requiredKeys: [] })
  ),
  move: fc.tuple(one("move"), which, status),
  close: fc.tuple(one("close"), which),
  news: fc.tuple(one("notified", "delay", "part"), which),
  money: fc.tuple(one("quote", "edit price", "edit deposit"), which, amount),
  quoteAnswer: fc.tuple(one("answer quote"), which, fc.constantFrom("accepted" as const, "refused" as const)),
  offerAnswer: fc.tuple(one("answer offer"), which, fc.constantFrom("accepted" as const, "blocked" as const)),
  visit: fc.tuple(one("visit"), person),
  stamps: fc.tuple(one("stamps"), person, fc.constantFrom(0 as const, 1 as const), fc.integer({ min: 1, max: 10 })),
  redeem: fc.tuple(one("redeem"), person),
  program: fc.tuple(one("program"), fc.boolean(), fc.integer({ min: 1, max: 12 }), fc.nat(4)),
  ping: fc.tuple(one("ping"))
}

/** A random act. Moves are weighted so that tickets pass through many states. */
export const anyAct: fc.Arbitrary<Act> = fc.oneof(
  { arbitrary: arbitrary.create, weight: 3 },
  { arbitrary: arbitrary.move, weight: 6 },
  { arbitrary: arbitrary.close, weight: 2 },
  { arbitrary: arbitrary.wait, weight: 3 },
  ...Object.values(arbitrary)
)

const nth = <Id>(ids: Iterable<Id>, n: number): Id | undefined => {
  const all = [...ids]
  return all[n % Math.max(1, all.length)]
}

const onTicket = (act: Act, id: TicketId): Command<unknown, unknown> | null => {
  switch (act[0]) {
    case "move":
      return changeStatus(SHOP, id, act[2])
    case "close":
      return closeTicket(SHOP, id)
    case "notified":
      return recordNotified(SHOP, id, "sms")
    case "delay":
      return announceDelay(SHOP, id, { promised_at: 1_900_000_000_000 } as never)
    case "part":
      return recordPart(SHOP, id, { label: "Zip", status: "ordered" } as never)
    case "quote":
      return proposeQuote(SHOP, id, { price_minor: act[2] } as never)
    case "edit price":
      return editTicket(SHOP, id, { price_minor: act[2] } as never, [])
    case "edit deposit":
      return editTicket(SHOP, id, { deposit_minor: act[2] } as never, [])
    case "answer quote":
      return answerQuote(SHOP, id, act[2])
    default:
      return null
  }
}

/** The command of an act in this shop's present state, or null if the shop has no ticket or offer for the act. */
export const commandOf = (act: Act, { slice }: TestShop): Command<unknown, unknown> | null => {
  switch (act[0]) {
    case "wait":
      return null
    case "create": {
      const { client, phone, deposit_minor } = act[1]
      const client_id = client === undefined ? null : PEOPLE[client].id
      const client_phone = phone === undefined ? null : PEOPLE[phone].phone
      const input = ticketInput({ client_id, client_phone, deposit_minor: deposit_minor ?? null })
      return createTicket(SHOP, input, { via: "api", foundWords: [] })
    }
    case "answer offer": {
      const id = nth(slice.offers.keys(), act[1])
      return id === undefined ? null : answerOffer(SHOP, id as OfferId, act[2])
    }
    case "visit":
      return recordVisit(SHOP, PEOPLE[act[1]].id)
    case "stamps": {
      const [, person, key, count] = act
      const caller_id = [KEY, OTHER_KEY][key]!
      return giveStamps(SHOP, { client_id: PEOPLE[person].id, caller_id, count: count as never })
    }
    case "redeem":
      return redeemReward(SHOP, { client_id: PEOPLE[act[1]].id, caller_id: KEY })
    case "program": {
      const [, active, stamps_required, stamps_per_ticket] = act
      return changeShop(SHOP, { program: { active, stamps_required, stamps_per_ticket } } as never)
    }
    case "ping":
      return pingWebhook(SHOP)
    default: {
      const id = nth(slice.tickets.keys(), act[1])
      return id === undefined ? null : onTicket(act, id)
    }
  }
}
