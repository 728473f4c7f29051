import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { NOBODY, TestService } from "../TestService.js"
import type { TestShop } from "./TestShop.js"
import type { ApiResponse } from "./Wire.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 66 })
})
afterAll(() => service.close())

/** The id and phone number of a person about whom the shop must learn nothing. */
interface Stranger {
  readonly id: string
  readonly phone: string
}

/** How to create a person, and what the person does after the shop has offered a ticket to their number. */
interface Kind {
  readonly create: (shop: TestShop) => Promise<Stranger>
  readonly afterwards?: (shop: TestShop, stranger: Stranger) => Promise<void>
}

const blocks = (_: TestShop, stranger: Stranger) => service.answerOffer(stranger, "block")

/** The people whom a shop must not be able to distinguish (Specification, Clients and loyalty). */
const STRANGERS: Readonly<Record<string, Kind>> = {
  "no account": { create: async () => ({ id: NOBODY, phone: service.phone() }) },
  "an account unknown to the shop": { create: () => service.client() },
  "an account that knew the shop and blocked it": { create: (shop) => service.known(shop), afterwards: blocks },
  "an account that blocked the shop at its first offer": { create: () => service.client(), afterwards: blocks },
  "an account that blocked the shop and came to its counter again": {
    create: (shop) => service.known(shop),
    afterwards: async (shop, stranger) => {
      await blocks(shop, stranger)
      await service.visit(stranger, shop)
    }
  },
  "a client of another shop": { create: async () => service.known(await service.shop()) }
}

/** All that a shop can see of a response, with random ids and codes replaced. */
const seen = (stranger: Stranger, { status, headers, text }: ApiResponse) => {
  const { "request-id": _, date: __, "content-length": ___, ...rest } = headers
  return { status, headers: rest, text: masked(stranger, text), length: Buffer.byteLength(text) }
}

const masked = ({ id, phone }: Stranger, text: string): string =>
  text
    .replaceAll(id, "ID")
    .replaceAll(phone, "PHONE")
    .replaceAll(/"(id|shop_id)":"[0-9a-f-]{36}"/g, '"$1":"…"')
    .replaceAll(/"next_cursor":"[^"]+"/g, '"next_cursor":"…"')
    .replaceAll(/[0-9A-Z]{4}-[0-9A-Z]{4}"/g, 'CODE"')

/** The calls that a shop might try, in this order, to learn about a person. */
const TRIES: Readonly<Record<string, (shop: TestShop, stranger: Stranger) => Promise<ApiResponse>>> = {
  "look up by phone": (shop, { phone }) => shop.get("/v1/clients", { phone }),
  "look up by phone again": (shop, { phone }) => shop.get("/v1/clients", { phone }),
  "look up by id": (shop, { id }) => shop.get(`/v1/clients/${id}`),
  "read the loyalty card": (shop, { id }) => shop.get(`/v1/clients/${id}/loyalty`),
  "HEAD of the loyalty card": (shop, { id }) => service.api("HEAD", `/v1/clients/${id}/loyalty`, { key: shop.key }),
  "add stamps": (shop, { id }) => shop.stamp(id, 5),
  "add stamps again": (shop, { id }) => shop.stamp(id, 10),
  "use a reward": (shop, { id }) => shop.redeem(id),
  "create with client_id": (shop, { id }) => shop.tryCreate({ service: "Hem", client_id: id }),
  "create with client_phone": (shop, { phone }) => shop.tryCreate({ service: "Hem", client_phone: phone }),
  "create with both": (shop, { id, phone }) => shop.tryCreate({ service: "Hem", client_id: id, client_phone: phone }),
  "list by client_id": (shop, { id }) => shop.get("/v1/tickets", { client_id: id }),
  "list by client_id and phone": (shop, { id, phone }) => shop.get("/v1/tickets", { client_id: id, phone }),
  "list by client_id, synced": (shop, { id }) =>
    shop.get("/v1/tickets", { client_id: id, updated_since: "2026-01-01" }),
  "list by phone, newest": (shop, { phone }) => shop.get("/v1/tickets", { phone, limit: 1 }),
  "look up with a bad parameter": (shop, { phone }) => shop.get("/v1/clients", { phone, x: 1 }),
  "a forbidden word for client_id": (shop, { id }) => shop.tryCreate({ service: "fuck", client_id: id })
}

/**
 * Creates a shop that has the same data for every stranger: a ticket of its own client, and a ticket that is offered to
 * the stranger.
 */
const shopFor = async (kind: string) => {
  const shop = await service.shop({ tracking_base_url: "https://t.example/" })
  const own = await service.known(shop)
  await shop.create({ service: "Own", client_id: own.id })
  const { create, afterwards } = STRANGERS[kind]!
  const stranger = await create(shop)
  await shop.create({ service: "Offered", client_phone: stranger.phone })
  await afterwards?.(shop, stranger)
  return { shop, stranger }
}

const asked = async (kind: string, act: (shop: TestShop, stranger: Stranger) => Promise<ApiResponse>) => {
  const { shop, stranger } = await shopFor(kind)
  const before = (await shop.eventTexts()).length
  const response = await act(shop, stranger)
  const events = (await shop.eventTexts()).slice(before).map((text) => masked(stranger, text))
  return { answer: seen(stranger, response), events }
}

describe("A shop learns nothing about clients whom it does not know (Specification, Clients and loyalty)", () => {
  const [first, ...others] = Object.keys(STRANGERS)

  for (const [name, act] of Object.entries(TRIES)) {
    it(`the call "${name}" has the same status, body, headers and events for every such client (Specification, Endpoints; Clients and loyalty)`, async () => {
      const expected = await asked(first!, act)
      for (const kind of others) expect(await asked(kind, act), kind).toEqual(expected)
    })
  }

  it("the same sequence of calls gives the same responses, counters and events for every kind of client whom the shop must not see (Specification, Clients and loyalty)", async () => {
    const begin = service.now
    const all = async (kind: string) => {
      service.clock.set(begin)
      const { shop, stranger } = await shopFor(kind)
      const before = (await shop.eventTexts()).length
      const responses = []
      for (const [name, act] of Object.entries(TRIES)) {
        service.clock.advance(1)
        responses.push([name, seen(stranger, await act(shop, stranger))])
      }
      const events = (await shop.eventTexts()).slice(before).map((text) => masked(stranger, text))
      return { answers: responses, events }
    }
    const expected = await all(first!)
    for (const kind of others) expect(await all(kind), kind).toEqual(expected)
  })

  it("the 404 for an unknown client equals the 404 for a blocking client, to the byte (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const blocker = await service.blocker(shop)
    for (const path of [(id: string) => `/v1/clients/${id}`, (id: string) => `/v1/clients/${id}/loyalty`]) {
      const [unknown, blocked] = [await shop.get(path(NOBODY)), await shop.get(path(blocker.id))]
      expect([blocked.status, blocked.text]).toEqual([404, unknown.text])
    }
  })

  it("a ticket of a client who blocks the shop has client null in every response: by id, list, by number, sync, status, notified (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    expect((await shop.ticket(id)).client).not.toBeNull()
    await service.block(client, shop)
    const responses = [
      await shop.get(`/v1/tickets/${id}`),
      await shop.get("/v1/tickets", { number: 1 }),
      await shop.get("/v1/tickets/by-number/1"),
      await shop.get("/v1/tickets", { updated_since: "2026-01-01", number: 1 }),
      await shop.post(`/v1/tickets/${id}/notified`, { channel: "sms" }),
      await shop.tryMove(id, "ready"),
      await shop.tryMove(id, "collected")
    ]
    for (const response of responses) {
      expect(response.status).toBe(200)
      expect(response.text).toContain('"client":null')
      expect(response.text).not.toContain(client.id)
      expect(response.text).not.toContain("Amira")
    }
  })

  it("a list by the client_id of a client who blocks the shop is as empty as for an unknown client, and the ticket can still be read (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    const lists: ReadonlyArray<Readonly<Record<string, string>>> = [
      { client_id: client.id },
      { client_id: client.id, updated_since: "2026-01-01" }
    ]
    for (const query of lists)
      expect((await shop.get<ReadonlyArray<unknown>>("/v1/tickets", query)).data).toHaveLength(1)
    await service.block(client, shop)
    for (const query of lists) {
      const [ofBlocker, ofUnknown] = [
        await shop.get("/v1/tickets", query),
        await shop.get("/v1/tickets", { ...query, client_id: NOBODY })
      ]
      expect([ofBlocker.status, ofBlocker.text]).toEqual([200, ofUnknown.text])
    }
    expect((await shop.ticket(id)).id).toBe(id)
  })

  it("a block raises no event and changes neither the ticket nor its updated_at (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.client()
    const { id } = await shop.create({ service: "Hem", client_phone: client.phone })
    const [ticket, events] = [await shop.ticket(id), await shop.eventTexts()]
    service.clock.advance(1000)
    await service.answerOffer(client, "block")
    expect(await shop.ticket(id)).toEqual(ticket)
    expect(await shop.eventTexts()).toEqual(events)
    const { data } = await shop.get<ReadonlyArray<unknown>>("/v1/tickets", { updated_since: service.iso() })
    expect(data).toEqual([])
  })

  it("a create with the phone number of a known client links no client (Specification, Endpoints)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const response = await shop.tryCreate({ service: "Hem", client_phone: client.phone })
    expect(response.data.client).toBeNull()
    expect(await shop.eventTypes()).toEqual(["ticket.created"])
  })

  it("a client who blocked the shop gets no notification of their ticket, and their loyalty card is a 404 for the shop (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { id } = await shop.create({ service: "Hem", client_id: client.id })
    await service.block(client, shop)
    await shop.move(id, "ready", "collected")
    expect(await service.inbox(client)).toEqual([])
    expect((await shop.get(`/v1/clients/${client.id}/loyalty`)).status).toBe(404)
  })
})
