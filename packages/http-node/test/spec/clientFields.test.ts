import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DAY, TestService } from "../TestService.js"
import type { CardJson } from "./TestShop.js"

let service: TestService
beforeAll(async () => {
  service = await TestService.open({ seed: 21 })
})
afterAll(() => service.close())

describe("the client and the loyalty card (Specification, Resources)", () => {
  it("a client without tickets has ticket counts of 0 and an empty loyalty card (Specification, Resources; Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    const { data } = await shop.get(`/v1/clients/${client.id}`)
    expect(data).toEqual({
      id: client.id,
      display_name: "Amira Ben Salah",
      tickets_open: 0,
      tickets_total: 0,
      loyalty: { balance: 0, lifetime: 0, rewards_available: 0, rewards_redeemed: 0, updated_at: null }
    })
  })

  it("tickets_open counts workshop, ready and impossible, and tickets_total all of this shop's tickets (Specification, Resources; Lists and sync)", async () => {
    const [shop, other] = [await service.shop(), await service.shop()]
    const client = await service.known(shop)
    await service.visit(client, other)
    await other.create({ service: "Hem", client_id: client.id })
    const make = async (...moves: ReadonlyArray<string>) => {
      const { id } = await shop.create({ service: "Hem", client_id: client.id })
      await shop.move(id, ...moves)
    }
    await make()
    service.clock.advance(60 * DAY)
    await service.closeDue()
    await make()
    await make("ready")
    await make("impossible")
    await make("ready", "collected")
    const { data } = await shop.get(`/v1/clients/${client.id}`)
    expect(data).toMatchObject({ tickets_open: 3, tickets_total: 5 })
  })

  it("client.loyalty is the card, and null while the programme is off (Specification, Clients and loyalty)", async () => {
    const shop = await service.shop()
    const client = await service.known(shop)
    await shop.stamp(client.id, 10)
    await shop.stamp(client.id, 3)
    const card: CardJson = {
      balance: 13,
      lifetime: 13,
      rewards_available: 1,
      rewards_redeemed: 0,
      updated_at: service.iso()
    }
    expect((await shop.get(`/v1/clients/${client.id}`)).data).toMatchObject({ loyalty: card })
    await shop.change({ program: { active: false } })
    expect((await shop.get(`/v1/clients/${client.id}`)).data).toMatchObject({ loyalty: null })
    expect((await shop.get("/v1/clients", { phone: client.phone })).data).toMatchObject({ loyalty: null })
  })

  const names: ReadonlyArray<readonly [given: string, family: string, hidden: boolean, shown: string]> = [
    ["Amira", "Ben Salah", false, "Amira Ben Salah"],
    ["Amira", "Ben Salah", true, "Amira B."],
    ["Élodie", "Ørsted", true, "Élodie Ø."],
    ["Jean Marc", "de Villiers", true, "Jean Marc d."],
    ["Ali", "𝒳avier", true, "Ali 𝒳."],
    ["أميرة", "بن صالح", true, "أميرة ب."]
  ]
  for (const [given_name, family_name, hide_name, displayName] of names) {
    it(`${given_name} ${family_name}, with hide_name ${hide_name}, is shown as ${displayName} everywhere (Specification, Resources; Clients and loyalty)`, async () => {
      const shop = await service.shop()
      const client = await service.known(shop, { given_name, family_name, hide_name })
      const ticket = await shop.create({ service: "Hem", client_id: client.id })
      const badge = { id: client.id, display_name: displayName }
      expect(ticket.client).toEqual(badge)
      const responses = [
        await shop.get(`/v1/clients/${client.id}`),
        await shop.get("/v1/clients", { phone: client.phone }),
        await shop.get(`/v1/tickets/${ticket.id}`)
      ]
      expect(responses[0]!.data).toMatchObject(badge)
      expect(responses[1]!.data).toMatchObject(badge)
      expect(responses[2]!.data.client).toEqual(badge)
      expect((await shop.events()).at(-1)!.data.client).toEqual(badge)
      if (hide_name) for (const { text } of responses) expect(text).not.toContain(family_name)
    })
  }
})
