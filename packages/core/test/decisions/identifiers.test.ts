import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decide } from "../../src/decisions/Command.js"
import { createTicket } from "../../src/decisions/createTicket.js"
import { ENTROPY_BYTES, makeGrantIdentifier, makeIdentifier } from "../../src/domain/Moment.js"
import { makeTrackingCode, trackingUrl } from "../../src/domain/TrackingCode.js"
import { AMIRA, KARIM, momentAt, SHOP, START, TestShop, ticketInput } from "./fixtures.js"

const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const entropy = fc.uint8Array({ minLength: ENTROPY_BYTES, maxLength: ENTROPY_BYTES })
const instant = fc.integer({ min: 0, max: 253_402_300_799_999 })

describe("Specification, Tickets: ids are UUIDs of version 7", () => {
  it("an identifier of any moment has the form of a UUIDv7 and holds its instant (Specification, Tickets)", () => {
    fc.assert(
      fc.property(entropy, instant, fc.integer({ min: 0, max: 4095 }), (entropy, now, n) => {
        const id = makeIdentifier({ now, entropy }, n)
        expect(id).toMatch(UUID7)
        expect(Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)).toBe(now)
      }),
      { numRuns: 300 }
    )
  })

  it("identifiers of one moment sort in the order of their creation (Specification, Tickets)", () => {
    const ids = Array.from({ length: 100 }, (_, n) => makeIdentifier(momentAt(START, 5), n))
    expect([...ids].sort()).toEqual(ids)
    expect(new Set(ids).size).toBe(100)
  })

  it("identifiers of a later moment sort after those of an earlier one (Specification, Tickets)", () => {
    expect(makeIdentifier(momentAt(START + 1, 0), 0) > makeIdentifier(momentAt(START, 9), 40)).toBe(true)
  })

  it("different random bytes give different identifiers at the same instant (Specification, Tickets)", () => {
    const of = (draw: number) => makeIdentifier(momentAt(START, draw), 0)
    expect(new Set(Array.from({ length: 500 }, (_, draw) => of(draw))).size).toBe(500)
  })

  it("an identifier uses all of its first eight random bytes, except for the bits of the version and the variant (Specification, Tickets)", () => {
    const zeros = { now: START, entropy: new Uint8Array(ENTROPY_BYTES) }
    for (let byte = 0; byte < 8; byte++) {
      const changed = { now: START, entropy: new Uint8Array(ENTROPY_BYTES).fill(1, byte, byte + 1) }
      expect(makeIdentifier(changed, 0)).not.toBe(makeIdentifier(zeros, 0))
    }
  })

  it("the identifier of an offer cannot be derived from another one of the same decision, because its random bytes are its own (Specification, Endpoints)", () => {
    const shop = new TestShop()
    const ticket = shop.create({ client_phone: KARIM.phone })
    const random = (id: string) => id.slice(19)
    expect(shop.events.map(({ id }) => random(id))).toEqual([random(ticket)])
    expect(random(shop.offer.id)).not.toBe(random(ticket))
    expect(shop.offer.id).toMatch(UUID7)
  })

  it("all 62 random bits of an offer's identifier are drawn for it alone (Specification, Endpoints)", () => {
    const zeros = { now: START, entropy: new Uint8Array(ENTROPY_BYTES) }
    const ones = { now: START, entropy: new Uint8Array(ENTROPY_BYTES).fill(255, 8, 16) }
    expect(makeIdentifier(ones, 0)).toBe(makeIdentifier(zeros, 0))
    expect(makeTrackingCode(ones)).toBe(makeTrackingCode(zeros))
    expect(makeGrantIdentifier(zeros, 2)).toMatch(/-7002-8000-000000000000$/)
    expect(makeGrantIdentifier(ones, 2)).toMatch(/-7002-bfff-ffffffffffff$/)
  })

  it("a create with twenty items, a client and a phone number gives each object a different identifier (Specification, Tickets)", () => {
    const shop = new TestShop()
    const items = Array.from({ length: 20 }, (_, n) => ({ label: `Thing ${n}` }))
    const id = shop.create({ client_id: shop.meets(AMIRA), client_phone: KARIM.phone, items })
    const ids = [
      id,
      ...shop.record(id).items.map((item) => item.id),
      ...shop.events.map((event) => event.id),
      shop.offer.id
    ]
    expect(ids).toHaveLength(24)
    expect(new Set(ids).size).toBe(24)
    for (const one of ids) expect(one).toMatch(UUID7)
  })
})

describe("Specification, Tickets: tracking codes", () => {
  it("a tracking code is two groups of four letters of Crockford's alphabet, which has no I, L, O or U (Specification, Tickets)", () => {
    fc.assert(
      fc.property(entropy, (entropy) => {
        expect(makeTrackingCode({ now: START, entropy })).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
      }),
      { numRuns: 300 }
    )
  })

  it("a tracking code writes its forty bits five at a time, the first bits first (Specification, Tickets)", () => {
    const code = (...last: ReadonlyArray<number>) =>
      makeTrackingCode({ now: START, entropy: Uint8Array.from([...Array(ENTROPY_BYTES - 5).fill(9), ...last]) })
    expect(code(0, 0, 0, 0, 0)).toBe("0000-0000")
    expect(code(255, 255, 255, 255, 255)).toBe("ZZZZ-ZZZZ")
    // 00001 00010 00011 00100 00101 00110 00111 01000 are the first eight numbers after 0.
    expect(code(0b00001000, 0b10000110, 0b01000010, 0b10011000, 0b11101000)).toBe("1234-5678")
    // 01010 10010 10100 10110 11000 11011 11100 11111 are A, J, M, P, R, V, W and Z, because the alphabet leaves out I, L, O and U.
    expect(code(0b01010100, 0b10101001, 0b01101100, 0b01101111, 0b10011111)).toBe("AJMP-RVWZ")
  })

  it("a tracking code cannot be derived from the instant or from the ticket's id (Specification, Tickets)", () => {
    const code = (now: number, first: number) =>
      makeTrackingCode({ now, entropy: Uint8Array.from([...Array(8).fill(first), 1, 2, 3, 4, 5]) })
    expect(code(START, 7)).toBe(code(START + 999, 200))
  })

  it("the address of a ticket's page is the shop's own base followed by the code (Specification, Tickets)", () => {
    expect(trackingUrl("https://t.example.com/?c=", "ABCD-1234")).toBe("https://t.example.com/?c=ABCD-1234")
    expect(trackingUrl(null, "ABCD-1234")).toBeNull()
  })

  it("two creates at one instant differ in identifier and code (Specification, Tickets)", () => {
    const { slice } = new TestShop()
    const create = createTicket(SHOP, ticketInput(), { via: "api", foundWords: [] })
    const [a, b] = [1, 2].map((draw) => decide(create, slice, momentAt(START, draw)))
    if (a?._tag !== "Right" || b?._tag !== "Right") throw new Error("refused")
    expect(a.right.result.id).not.toBe(b.right.result.id)
    expect(a.right.result.tracking_code).not.toBe(b.right.result.tracking_code)
  })
})
