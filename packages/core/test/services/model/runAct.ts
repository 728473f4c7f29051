import { type Effect as Eff, Effect } from "effect"
import type { TicketInput } from "../../../src/decisions/createTicket.js"
import type { ClientId, TicketId } from "../../../src/domain/Identifier.js"
import type { TicketStatus } from "../../../src/domain/TicketLifecycle.js"
import { Closer } from "../../../src/services/background/Closer.js"
import type { Caller } from "../../../src/services/Caller.js"
import { Clients } from "../../../src/services/Clients.js"
import { Loyalty } from "../../../src/services/Loyalty.js"
import { Offers } from "../../../src/services/Offers.js"
import { Quotes } from "../../../src/services/Quotes.js"
import { Shops } from "../../../src/services/Shops.js"
import { Tickets } from "../../../src/services/Tickets.js"
import { ticketInput } from "../../../src/testing/Fixtures.js"
import type { SettableClock } from "../../../src/testing/SettableClock.js"
import { key, quote, shopPatch, stamps } from "../WorkshopFixture.js"
import type { Act } from "./Act.js"
import type { ActResult, Json } from "./NaiveRecords.js"
import type { NaiveWorkshop } from "./NaiveWorkshop.js"

/** The ids of the real service, by the index that the model uses: callers by shop, clients, and tickets in the order of their creation. */
export interface RealState {
  readonly clock: SettableClock
  readonly callers: ReadonlyArray<readonly [Caller, Caller]>
  readonly clients: ReadonlyArray<ClientId>
  /** The clients' phone numbers with a `+`; the last number belongs to no client. */
  readonly phones: ReadonlyArray<string>
  readonly tickets: Array<TicketId>
  /** The acts so far that had an idempotency key. */
  readonly repeatable: Array<Act>
}

/** The results of an act on the service and on the model. */
export interface BothAnswers {
  readonly real: ActResult
  readonly naive: ActResult
}

/**
 * A result of the service in the terms of the model: indices instead of ids, and no random codes.
 */
export const inModelNames = (realState: RealState, value: unknown): Json => {
  if (Array.isArray(value)) return value.map((one) => inModelNames(realState, one))
  if (typeof value !== "object" || value === null) return (value ?? null) as Json
  const fields: Record<string, Json> = {}
  for (const [name, field] of Object.entries(value)) {
    if (name === "tracking_code" || name === "tracking_url") continue
    if (name !== "id") fields[name] = inModelNames(realState, field)
    else if (realState.tickets.includes(field)) fields.ticket = realState.tickets.indexOf(field)
    else if (realState.clients.includes(field)) fields.client = realState.clients.indexOf(field)
    else fields.id = field
  }
  return fields
}

const realAnswer = <A, E extends { readonly _tag: string }, R>(realState: RealState, effect: Eff.Effect<A, E, R>) =>
  Effect.match(effect, {
    onFailure: (refusal): ActResult =>
      "allowed" in refusal && Array.isArray(refusal.allowed)
        ? { refused: refusal._tag, allowed: refusal.allowed }
        : { refused: refusal._tag },
    onSuccess: (result): ActResult => ({ ok: inModelNames(realState, result) })
  })

const create = Effect.fnUntraced(function* (realState: RealState, naive: NaiveWorkshop, act: Act & { do: "create" }) {
  const [price, deposit] = act.money as [number | null, number | null]
  const phone = act.phone === null ? null : realState.phones[act.phone]!
  const { service, client } = act
  const input: TicketInput = ticketInput({
    service,
    price_minor: price,
    deposit_minor: deposit,
    client_phone: phone,
    ...(client === null ? {} : { client_id: realState.clients[client]! })
  })
  const caller = realState.callers[act.shop]![act.caller]!
  const place = act.shop * 2 + act.caller
  const result = (yield* Tickets).create(caller, input, act.key === null ? undefined : key(act.key)).pipe(
    Effect.map(({ data, replayed }) => {
      if (!replayed) realState.tickets.push(data.id as TicketId)
      return { data, replayed }
    })
  )
  const real = yield* realAnswer(realState, result)
  return { real, naive: naive.create(act.shop, place, act.key, { service, client, phone, price, deposit }) }
})

const onTicket = Effect.fnUntraced(function* (
  realState: RealState,
  naive: NaiveWorkshop,
  act: Act & { do: "status" | "notified" | "quote" | "answerQuote" }
) {
  const n = act.ticket % naive.tickets.length
  const id = realState.tickets[n]!
  const shop = act.do === "status" && act.shop !== 9 ? act.shop : naive.tickets[n]!.shop
  const caller = realState.callers[shop]![0]
  const tickets = yield* Tickets
  const quotes = yield* Quotes
  switch (act.do) {
    case "status": {
      const result = Effect.map(tickets.changeStatus(caller, id, act.to as TicketStatus), ({ data }) => data)
      return { real: yield* realAnswer(realState, result), naive: naive.status(shop, n, act.to) }
    }
    case "notified": {
      const result = Effect.map(tickets.recordNotified(caller, id, act.channel as "sms" | "call"), ({ data }) => data)
      return { real: yield* realAnswer(realState, result), naive: naive.notified(shop, n, act.channel) }
    }
    case "quote": {
      const result = quotes.propose(caller, id, quote({ price_minor: act.price }))
      return { real: yield* realAnswer(realState, result), naive: naive.quote(shop, n, act.price) }
    }
    case "answerQuote": {
      const status = act.status as "accepted" | "refused"
      const result = quotes.recordAnswer(caller, id, status)
      return { real: yield* realAnswer(realState, result), naive: naive.answerQuote(shop, n, status) }
    }
  }
})

const onClient = Effect.fnUntraced(function* (
  realState: RealState,
  naive: NaiveWorkshop,
  act: Act & { do: "visit" | "answerOffer" | "stamps" | "redeem" }
) {
  const id = realState.clients[act.client]!
  if (act.do === "visit") {
    const result = (yield* Clients).visit(id, realState.callers[act.shop]![0].shop_id)
    return { real: yield* realAnswer(realState, result), naive: naive.visit(act.shop, act.client) }
  }
  if (act.do === "answerOffer") {
    const offers = yield* Offers
    const visibleOffers = yield* Effect.orDie(offers.ofClient(id))
    const expected = naive.offersSeen(act.client)
    const real = visibleOffers.map(({ ticket_id, status }) => [realState.tickets.indexOf(ticket_id), status])
    const listed = { real: { ok: real }, naive: { ok: expected.map(({ ticket, status }) => [ticket, status]) } }
    const at = act.offer % expected.length
    if (visibleOffers.length !== expected.length || visibleOffers[at] === undefined) return listed
    const status = act.status as "accepted" | "blocked"
    const result =
      status === "accepted" ? offers.accept(id, visibleOffers[at].id) : offers.block(id, visibleOffers[at].id)
    return { real: yield* realAnswer(realState, result), naive: naive.answerOffer(act.client, expected[at]!, status) }
  }
  const caller = realState.callers[act.shop]![act.caller]!
  const place = act.shop * 2 + act.caller
  const loyalty = yield* Loyalty
  if (act.do === "stamps") {
    const result = loyalty.giveStamps(caller, id, stamps(act.count), key(act.key))
    return {
      real: yield* realAnswer(realState, result),
      naive: naive.stamps(act.shop, place, act.key, act.client, act.count)
    }
  }
  const result = loyalty.redeem(caller, id, key(act.key))
  return { real: yield* realAnswer(realState, result), naive: naive.redeem(act.shop, place, act.key, act.client) }
})

const settings = Effect.fnUntraced(function* (
  realState: RealState,
  naive: NaiveWorkshop,
  act: Act & { do: "settings" }
) {
  const { program, required, per_ticket, next } = act.change as Record<string, number | undefined> & {
    program?: boolean
  }
  const patch = shopPatch({
    program: {
      ...(program === undefined ? {} : { active: program }),
      ...(required === undefined ? {} : { stamps_required: required }),
      ...(per_ticket === undefined ? {} : { stamps_per_ticket: per_ticket })
    },
    ...(next === undefined ? {} : { next_number: next })
  })
  const changed = Effect.asVoid((yield* Shops).change(realState.callers[act.shop]![0].shop_id, patch))
  return { real: yield* realAnswer(realState, changed), naive: naive.settings(act.shop, act.change) }
})

/** Runs an act on the service and on the model. */
export const runAct = Effect.fnUntraced(function* (realState: RealState, naive: NaiveWorkshop, chosen: Act) {
  const results: Array<BothAnswers> = []
  const act = chosen.do === "again" ? realState.repeatable.at(-1 - chosen.back) : chosen
  if (act === undefined) return results
  if ("key" in act && chosen.do !== "again") realState.repeatable.push(act)
  switch (act.do) {
    case "again":
      break
    case "create":
      results.push(yield* create(realState, naive, act))
      break
    case "crowd": {
      const one = { do: "create", key: null, service: "Hem", client: null, phone: null, money: [null, null] } as const
      for (let n = 0; n < 55; n++)
        results.push(yield* create(realState, naive, { ...one, shop: act.shop, caller: 0 } as never))
      break
    }
    case "status":
    case "notified":
    case "quote":
    case "answerQuote":
      if (naive.tickets.length > 0) results.push(yield* onTicket(realState, naive, act))
      break
    case "settings":
      results.push(yield* settings(realState, naive, act))
      break
    case "time":
      realState.clock.advance(act.ms)
      naive.clock += act.ms
      break
    case "close":
      results.push({ real: yield* realAnswer(realState, (yield* Closer).runOnce), naive: naive.close() })
      break
    default:
      results.push(yield* onClient(realState, naive, act))
  }
  return results
})
