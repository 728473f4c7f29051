import { isDeepStrictEqual } from "node:util"
import { Effect } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { RUNS_ALL } from "../../../../test/runsAll.js"
import { Clients } from "../../src/services/Clients.js"
import { Loyalty } from "../../src/services/Loyalty.js"
import { Tickets } from "../../src/services/Tickets.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { SettableClock, TEST_START } from "../../src/testing/SettableClock.js"
import { type Act, act } from "./model/Act.js"
import type { NaiveShop } from "./model/NaiveRecords.js"
import { NaiveWorkshop } from "./model/NaiveWorkshop.js"
import { inModelNames, type RealState, runAct } from "./model/runAct.js"
import { callerOf, openClient, openShop, query, SEED, workshopLayer } from "./WorkshopFixture.js"

const PHONES = ["+21620000001", "+21620000002", "+21620000003", "+21629999999"]
const ZONES = [
  ["Africa/Tunis", 1],
  ["Asia/Kolkata", 5.5]
] as const

/** The refusals and events that the random stories must include, because each would otherwise be untested. */
const EVERYTHING = [
  "ClientNotFound",
  "IdempotencyKeyReused",
  "InvalidInput",
  "InvalidTransition",
  "LimitReached",
  "LoyaltyOff",
  "NoReward",
  "OfferClosed",
  "QuoteClosed",
  "ReopenWindowPassed",
  "SameState",
  "TicketAbandoned",
  "TicketNotFound",
  "client.linked",
  "client.notified",
  "quote.accepted",
  "quote.proposed",
  "quote.refused",
  "ticket.abandoned",
  "ticket.collected",
  "ticket.created",
  "ticket.impossible",
  "ticket.ready",
  "ticket.reopened"
]

const naiveShop = (hours_ahead: number): NaiveShop => ({
  hours_ahead,
  next: 1,
  last: TEST_START,
  program: true,
  required: 10,
  per_ticket: 1,
  hour: { n: 0, until: 0 },
  day: { n: 0, day: 0 },
  events: []
})

const assemble = Effect.fnUntraced(function* (clock: SettableClock) {
  const callers = yield* Effect.forEach(ZONES, ([time_zone]) =>
    Effect.flatMap(openShop({ time_zone }), (one) =>
      Effect.map(callerOf(one.shop_id), (other) => [one, other] as const)
    )
  )
  const clients = yield* Effect.forEach(PHONES.slice(0, 3), (phone, i) => openClient(phone, i === 1))
  const realState: RealState = {
    clock,
    callers,
    clients: clients.map(({ id }) => id),
    phones: PHONES,
    tickets: [],
    repeatable: []
  }
  const people = PHONES.slice(0, 3).map((phone, i) => ({ phone, name: i === 1 ? "Amira B." : "Amira Baccar" }))
  return {
    realState,
    naive: new NaiveWorkshop(
      ZONES.map(([, ahead]) => naiveShop(ahead)),
      people,
      TEST_START
    )
  }
})

/** Like `toEqual`, but much faster if the values are equal. */
const alike = (real: unknown, expected: unknown, message: string) => {
  if (!isDeepStrictEqual(real, expected)) expect(real, message).toEqual(expected)
}

/** Sorts the events of tickets that one run closed at the same due instant, because their order is not specified. */
const steady = <E extends { readonly type: string; readonly ticket: number }>(events: ReadonlyArray<E>) => {
  const runs: Array<Array<E>> = []
  for (const event of events) {
    const run = runs.at(-1)
    if (event.type === "ticket.abandoned" && run?.[0]?.type === "ticket.abandoned") run.push(event)
    else runs.push([event])
  }
  return runs.flatMap((run) => run.sort((a, b) => a.ticket - b.ticket))
}

const eventsOf = Effect.fnUntraced(function* (realState: RealState, shop: number) {
  const records = yield* (yield* Webhooks).events(realState.callers[shop]![0].shop_id)
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, i) => i + 1))
  return records.map(({ body, type, id }) => {
    const event = JSON.parse(body)
    alike([event.id, event.type, event.api_version], [id, type, "1"], "the envelope")
    return {
      type: event.type as string,
      ticket: realState.tickets.indexOf(event.data.ticket.id),
      at: event.created_at as string,
      data: inModelNames(realState, event.data)
    }
  })
})

const listed = Effect.fnUntraced(function* (realState: RealState, shop: number) {
  const tickets = yield* Tickets
  const views: Array<unknown> = []
  let cursor: string | null = null
  do {
    const page: { data: ReadonlyArray<unknown>; meta: { next_cursor: string | null } } = yield* tickets.list(
      realState.callers[shop]![0],
      query({ limit: "7", ...(cursor === null ? {} : { cursor }) })
    )
    views.push(...page.data)
    cursor = page.meta.next_cursor
  } while (cursor !== null)
  return inModelNames(realState, views)
})

/** Compares the reads of the service with those of the model. */
const compare = Effect.fnUntraced(function* (realState: RealState, naive: NaiveWorkshop) {
  for (const shop of [0, 1]) {
    const newest = naive.tickets
      .map((ticket, n) => ({ ticket, n, id: realState.tickets[n]! }))
      .filter(({ ticket }) => ticket.shop === shop)
      .sort((a, b) => b.ticket.created - a.ticket.created || (a.id < b.id ? 1 : -1))
    alike(
      yield* listed(realState, shop),
      newest.map(({ n }) => naive.view(n)),
      "the list"
    )
    alike(steady(yield* eventsOf(realState, shop)), steady(naive.shops[shop]!.events), "the events")
    for (const [client, id] of realState.clients.entries()) {
      const view = yield* Effect.option((yield* Clients).byId(realState.callers[shop]![0], id))
      expect(view._tag === "None" ? null : inModelNames(realState, view.value)).toEqual(naive.client(shop, client))
      if (!naive.sees(shop, client)) continue
      const { card } = yield* (yield* Loyalty).read(realState.callers[shop]![0], id)
      expect(card).toEqual(naive.card(shop, client))
    }
  }
  for (const [client, id] of realState.clients.entries()) {
    const inbox = (yield* (yield* Clients).inbox(id)).map(({ type, ticket }) => ({
      client,
      type,
      ticket: inModelNames(realState, ticket)
    }))
    expect(inbox).toEqual(naive.inbox.filter((notification) => notification.client === client))
  }
})

/** Runs the acts, and adds the refusals and events that occurred to `met`. */
const story = (acts: ReadonlyArray<Act>, met: Set<string>) => {
  const clock = new SettableClock()
  return Effect.gen(function* () {
    const { realState, naive } = yield* assemble(clock)
    for (const act of acts) {
      for (const { real, naive: expected } of yield* runAct(realState, naive, act)) {
        alike(real, expected, JSON.stringify(act))
        if ("refused" in expected) met.add(expected.refused)
      }
    }
    yield* compare(realState, naive)
    for (const { events } of naive.shops) for (const { type } of events) met.add(type)
  }).pipe(Effect.provide(workshopLayer(clock, 1, true)), Effect.withClock(clock), Effect.runPromise)
}

describe("The service conforms to the specification under any sequence of acts", () => {
  it(`the service returns what a naive model of it returns (seed ${SEED})`, async () => {
    const met = new Set<string>()
    const stories = fc.array(act, { minLength: 20, maxLength: 90, size: "max" })
    await fc.assert(
      fc.asyncProperty(stories, (acts) => story(acts, met)),
      { seed: SEED, numRuns: RUNS_ALL ? 200 : 100 }
    )
    expect([...met].sort()).toEqual(EVERYTHING)
  }, 300_000)
})
