import { describe, expect, it } from "vitest"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { changeShop } from "../../src/decisions/shopSettings.js"
import { AMIRA, HOUR, PROGRAM, SHOP, START, TestShop } from "./fixtures.js"

const shopWithProgram = (program = {}) => new TestShop({ program: { ...PROGRAM, ...program } })
const program = (settings: object) => changeShop(SHOP, { program: settings } as never)
const balance = (shop: TestShop) => shop.slice.cards.get(AMIRA.id)?.balance ?? 0

describe("Specification, States: stamps that tickets earn", () => {
  it("a linked client's ticket earns its stamps when it becomes ready (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram({ stamps_per_ticket: 3 })
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    expect(balance(shop)).toBe(0)
    shop.wait(HOUR).moves(id, "ready")
    expect(shop.rows("LedgerAppended")).toMatchObject([
      { kind: "ticket", stamps: 3, ticket_id: id, client_id: AMIRA.id, caller_id: null, created_at: START + HOUR }
    ])
    expect(shop.slice.cards.get(AMIRA.id)).toEqual({
      shop_id: SHOP,
      client_id: AMIRA.id,
      balance: 3,
      lifetime: 3,
      rewards_redeemed: 0,
      updated_at: START + HOUR
    })
  })

  it("a ticket earns stamps only once, even if it is reopened and made ready again (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready", "workshop", "ready", "collected", "workshop", "ready", "collected")
    expect(shop.everyRow("LedgerAppended")).toHaveLength(1)
    expect(balance(shop)).toBe(1)
  })

  it("reopening a ticket does not take its stamps back (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready", "workshop", "impossible", "collected")
    expect(balance(shop)).toBe(1)
  })

  it("each ticket earns its own stamps (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram({ stamps_per_ticket: 2 })
    const client_id = shop.meets(AMIRA)
    for (let n = 0; n < 3; n++) shop.moves(shop.create({ client_id }), "ready", "collected")
    expect(shop.slice.cards.get(client_id)).toMatchObject({ balance: 6, lifetime: 6 })
  })

  it("a ticket whose client is linked after it became ready earns at its collection (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    const id = shop.create({ client_phone: AMIRA.phone })
    const offer = shop.offer.id
    shop.moves(id, "ready")
    expect(shop.rows("LedgerAppended")).toEqual([])
    shop.does(answerOffer(SHOP, offer, "accepted"))
    expect(balance(shop)).toBe(0)
    shop.moves(id, "collected")
    expect(balance(shop)).toBe(1)
  })

  it("a ticket whose client is linked after its collection earns nothing until it is ready again (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    const id = shop.create({ client_phone: AMIRA.phone })
    const offer = shop.offer.id
    shop.moves(id, "ready", "collected")
    shop.does(answerOffer(SHOP, offer, "accepted"))
    expect(balance(shop)).toBe(0)
    shop.moves(id, "workshop", "ready")
    expect(balance(shop)).toBe(1)
  })

  it("an impossible ticket earns nothing, collected or not (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "impossible", "collected")
    expect(shop.everyRow("LedgerAppended")).toEqual([])
    shop.moves(id, "workshop", "ready")
    expect(balance(shop)).toBe(1)
  })

  it("a ticket made ready while the programme is off earns at its collection if the programme is on again (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram({ active: false })
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready")
    expect(shop.everyRow("LedgerAppended")).toEqual([])
    shop.does(program({ active: true }))
    shop.moves(id, "collected")
    expect(balance(shop)).toBe(1)
  })

  it("a ticket collected while the programme is off earns if it is reopened and made ready while it is on (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram({ active: false })
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready", "collected")
    shop.does(program({ active: true }))
    expect(balance(shop)).toBe(0)
    shop.moves(id, "workshop", "ready")
    expect(balance(shop)).toBe(1)
  })

  it("a ticket keeps its stamps if the programme is turned off and on again (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready")
    shop.does(program({ active: false }))
    shop.moves(id, "workshop")
    shop.does(program({ active: true, stamps_per_ticket: 9 }))
    shop.moves(id, "ready", "collected")
    expect(balance(shop)).toBe(1)
  })

  it("a ticket that became ready while the programme gave 0 stamps earns none if it gives more later (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram({ stamps_per_ticket: 0 })
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.moves(id, "ready")
    expect(shop.everyRow("LedgerAppended")).toEqual([])
    shop.does(program({ stamps_per_ticket: 4 }))
    shop.moves(id, "collected")
    expect(balance(shop)).toBe(0)
  })

  it("a ticket of a client who blocks the shop earns nothing (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    const id = shop.create({ client_id: shop.meets(AMIRA) })
    shop.create({ client_phone: AMIRA.phone })
    shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
    shop.moves(id, "ready", "collected")
    expect(shop.everyRow("LedgerAppended")).toEqual([])
  })

  it("a ticket without a client earns nothing (Specification, Clients and loyalty)", () => {
    const shop = shopWithProgram()
    shop.moves(shop.create({ client_phone: AMIRA.phone }), "ready", "collected")
    expect(shop.everyRow("LedgerAppended")).toEqual([])
  })
})
