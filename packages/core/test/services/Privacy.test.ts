import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { ClientId } from "../../src/domain/Identifier.js"
import { TrackingPages } from "../../src/ports/TrackingPages.js"
import type { Caller } from "../../src/services/Caller.js"
import { Clients } from "../../src/services/Clients.js"
import { Loyalty } from "../../src/services/Loyalty.js"
import { Offers } from "../../src/services/Offers.js"
import { Tickets } from "../../src/services/Tickets.js"
import { Webhooks } from "../../src/services/Webhooks.js"
import { makeChanges, runCommand, ticketInput } from "../../src/testing/Fixtures.js"
import { SettableClock } from "../../src/testing/SettableClock.js"
import {
  inWorkshop,
  key,
  openClient,
  openShop,
  query,
  refusalOf,
  regular,
  stamps,
  ticketId,
  workshopLayer
} from "./WorkshopFixture.js"

const PHONE = "+21620123456"

/** Makes an offer with which the client blocks the shop. */
const block = Effect.fnUntraced(function* (caller: Caller, id: ClientId, phone = PHONE) {
  yield* (yield* Tickets).create(caller, ticketInput({ service: "Hem", client_phone: phone }))
  const offers = yield* Offers
  const open = (yield* offers.ofClient(id)).find(({ status }) => status === "open")
  yield* offers.block(id, open!.id)
})

/** Runs a shop's day with a phone number, which `holder` has, and returns everything that the shop can see. */
const world = (holder: "nobody" | "somebody" | "blocking") => {
  const clock = new SettableClock()
  return Effect.gen(function* () {
    const caller = yield* openShop()
    const tickets = yield* Tickets
    const clients = yield* Clients
    const { id } = yield* openClient(holder === "nobody" ? "+21629999999" : PHONE)
    if (holder === "blocking") yield* block(caller, id)
    else {
      // The same number of commands, so that later ones draw the same random bytes.
      yield* tickets.create(caller, ticketInput({ service: "Hem", client_phone: PHONE }))
      yield* runCommand(makeChanges(caller.shop_id, () => undefined))
    }
    clock.advance(1000)
    const created = yield* tickets.create(
      caller,
      ticketInput({ service: "Zip", client_phone: PHONE, price_minor: 5 }),
      key("k")
    )
    const ready = yield* tickets.changeStatus(caller, ticketId(created.data), "ready")
    const lookUp = yield* refusalOf(clients.byPhone(caller, query({ phone: PHONE }).phone!))
    const listed = yield* tickets.list(caller, query({ phone: PHONE }))
    const events = yield* (yield* Webhooks).events(caller.shop_id)
    return JSON.stringify({ created, ready, found: lookUp, listed, events })
  }).pipe(Effect.provide(workshopLayer(clock, 5)), Effect.withClock(clock), Effect.runPromise)
}

describe("Specification, Endpoints: the response to client_phone is the same whether or not an account exists", () => {
  it("responses, reads and events are equal to the last byte for an unknown number, a client and a client who blocks the shop", async () => {
    const nobody = await world("nobody")
    expect(nobody).toContain('"found":"ClientNotFound"')
    expect(await world("somebody")).toBe(nobody)
    expect(await world("blocking")).toBe(nobody)
  })
})

describe("A shop cannot distinguish a client who blocks it from one who does not exist (Specification, Clients and loyalty)", () => {
  const blocked = Effect.fnUntraced(function* () {
    const caller = yield* openShop()
    const id = yield* regular(caller)
    const tickets = yield* Tickets
    const { data } = yield* tickets.create(
      caller,
      ticketInput({ service: "Hem", client_id: id, client_phone: PHONE }),
      key("k")
    )
    const result = yield* (yield* Loyalty).giveStamps(caller, id, stamps(10), key("k"))
    yield* block(caller, id)
    return { caller, id, data, given: result }
  })

  it(
    "a blocking client is a 404 everywhere, as an unknown id is",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { caller, id } = yield* blocked()
        const [clients, loyalty, tickets] = [yield* Clients, yield* Loyalty, yield* Tickets]
        const never = caller.caller_id as unknown as ClientId
        for (const client_id of [id, never]) {
          const refusals = [
            yield* refusalOf(clients.byId(caller, client_id)),
            yield* refusalOf(loyalty.read(caller, client_id)),
            yield* refusalOf(loyalty.giveStamps(caller, client_id, stamps(1), key("new"))),
            yield* refusalOf(loyalty.redeem(caller, client_id, key("new"))),
            yield* refusalOf(tickets.create(caller, ticketInput({ service: "Hem", client_id }), key("new")))
          ]
          expect(refusals).toEqual(Array(5).fill("ClientNotFound"))
          expect((yield* tickets.list(caller, query({ client_id }))).data).toEqual([])
        }
        expect(yield* refusalOf(clients.byPhone(caller, query({ phone: PHONE }).phone!))).toBe("ClientNotFound")
      })
    )
  )

  it(
    "the client's block empties ticket.client, and no further notifications are sent or stamps earned",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { caller, id, data } = yield* blocked()
        const tickets = yield* Tickets
        const events = Effect.flatMap(Webhooks, (webhooks) => webhooks.events(caller.shop_id))
        const before = (yield* events).length
        expect((yield* tickets.byId(caller, ticketId(data))).client).toBeNull()
        expect((yield* tickets.byNumber(caller, data.number!)).data.client).toBeNull()
        expect((yield* tickets.list(caller, query({}))).data.map(({ client }) => client)).toEqual([null, null])
        const ready = yield* tickets.changeStatus(caller, ticketId(data), "ready")
        expect([ready.data.client, ready.data.notified_at]).toEqual([null, null])
        const after = (yield* events).slice(before)
        expect(after.map(({ type }) => type)).toEqual(["ticket.ready"])
        expect(JSON.parse(after[0]!.body).data.ticket.client).toBeNull()
        expect(yield* (yield* Clients).inbox(id)).toEqual([])
      })
    )
  )

  it(
    "replays of earlier responses are unchanged by a block",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { caller, id, data, given: result } = yield* blocked()
        const input = ticketInput({ service: "Hem", client_id: id, client_phone: PHONE })
        const replay = yield* (yield* Tickets).create(caller, input, key("k"))
        expect([replay.replayed, replay.data]).toEqual([true, data])
        expect(replay.data.client?.id).toBe(id)
        const stamped = yield* (yield* Loyalty).giveStamps(caller, id, stamps(10), key("k"))
        expect(stamped).toEqual({ data: result.data, replayed: true })
      })
    )
  )

  it(
    "a later visit does not lift a block, and another shop is not affected",
    inWorkshop(() =>
      Effect.gen(function* () {
        const { caller, id } = yield* blocked()
        const other = yield* openShop()
        const clients = yield* Clients
        for (const { shop_id } of [caller, other]) yield* clients.visit(id, shop_id)
        expect(yield* refusalOf(clients.byId(caller, id))).toBe("ClientNotFound")
        expect(yield* refusalOf(clients.byId(other, id))).toBeNull()
      })
    )
  )
})

describe("Only clients who already know the shop are visible (Specification, Endpoints)", () => {
  it(
    "a shop sees neither an account, nor the holder of a number with an open offer, nor another shop's client",
    inWorkshop(() =>
      Effect.gen(function* () {
        const [caller, other] = [yield* openShop(), yield* openShop()]
        const id = yield* regular(other)
        const clients = yield* Clients
        yield* (yield* Tickets).create(caller, ticketInput({ service: "Hem", client_phone: PHONE }))
        expect(yield* refusalOf(clients.byId(caller, id))).toBe("ClientNotFound")
        expect(yield* refusalOf(clients.byPhone(caller, query({ phone: PHONE }).phone!))).toBe("ClientNotFound")
        expect(yield* clients.byPhone(other, query({ phone: PHONE }).phone!)).toMatchObject({ id, tickets_total: 0 })
      })
    )
  )

  it(
    "an export has the address of a ticket's page, as the API shows it",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop({ tracking_base_url: null })
        const id = yield* regular(caller, PHONE)
        const { data } = yield* (yield* Tickets).create(caller, ticketInput({ service: "Hem", client_id: id }))
        const { shops } = yield* (yield* Clients).export(id)
        expect(shops[0]!.tickets[0]!.tracking_url).toBe(`https://shop.example/t/${data.tracking_code}`)
      }).pipe(Effect.provideService(TrackingPages, { base_url: "https://shop.example/t/" }))
    )
  )

  it(
    "a client who hides their name is abbreviated in responses and events",
    inWorkshop(() =>
      Effect.gen(function* () {
        const caller = yield* openShop()
        const { id } = yield* openClient(PHONE, true)
        yield* (yield* Clients).visit(id, caller.shop_id)
        const { data } = yield* (yield* Tickets).create(caller, ticketInput({ service: "Hem", client_id: id }))
        expect(data.client).toEqual({ id, display_name: "Amira B." })
        expect((yield* (yield* Clients).byId(caller, id)).display_name).toBe("Amira B.")
        expect(JSON.stringify(yield* (yield* Webhooks).events(caller.shop_id))).not.toContain("Baccar")
      })
    )
  )
})
