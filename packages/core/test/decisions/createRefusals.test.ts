import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { answerOffer } from "../../src/decisions/clientLink.js"
import { createTicket, TicketInput } from "../../src/decisions/createTicket.js"
import type { FoundWord } from "../../src/domain/ForbiddenWord.js"
import { inputIssues } from "../../src/domain/InvalidInput.js"
import { AMIRA, KARIM, NOBODY, SHOP, TestShop, ticketInput } from "./fixtures.js"

const create = (fields: Record<string, unknown> = {}, foundWords: ReadonlyArray<FoundWord> = []) =>
  createTicket(SHOP, ticketInput(fields), { via: "api", foundWords: foundWords })

const HEM: ReadonlyArray<FoundWord> = [{ field: "service", word: "hem" }]

const blockedBy = (shop: TestShop, client: typeof KARIM) => {
  shop.create({ client_phone: client.phone })
  shop.does(answerOffer(SHOP, shop.offer.id, "blocked"))
}

describe("Specification, Errors: refusals of a new ticket", () => {
  it("a create gets the same refusal for an unknown client, a client who never met the shop and a client who blocks it (Specification, Endpoints; Tickets)", () => {
    const shop = new TestShop()
    shop.meets(KARIM)
    blockedBy(shop, KARIM)
    const refusals = [NOBODY, AMIRA.id, KARIM.id].map((client_id) => shop.refuses(create({ client_id })))
    for (const refusal of refusals) {
      expect(refusal._tag).toBe("ClientNotFound")
      expect(JSON.stringify(refusal)).toBe(JSON.stringify(refusals[0]))
      expect(refusal.message).toBe(refusals[0]!.message)
    }
  })

  it("a text that the embedder's word filter refuses is refused with the name of its field (Specification, Errors)", () => {
    expect(
      new TestShop().refuses(
        create({ items: [{ label: "Coat" }, { label: "Hat" }] }, [{ field: "items.1.label", word: "hat" }])
      )
    ).toMatchObject({
      _tag: "ForbiddenWord",
      field: "items.1.label"
    })
  })

  const FIELDS = [
    ["service", { service: "Darn socks" }],
    ["item", { item: "a DARN coat" }],
    ["description", { description: "no\ndarn!" }],
    ["items.0.label", { items: [{ label: "darn" }, { label: "Coat" }] }],
    ["items.1.label", { items: [{ label: "Coat" }, { label: "(darn)" }] }],
    ["items.1.service", { items: [{ label: "Coat" }, { label: "Hat", service: "Darn" }] }]
  ] as const
  for (const [field, fields] of FIELDS) {
    it(`a word that the shop itself forbids is refused in ${field} (Specification, Errors)`, () => {
      const shop = new TestShop({ forbidden_words: ["darn"] })
      expect(shop.refuses(create(fields))).toMatchObject({ _tag: "ForbiddenWord", field })
    })
  }

  it("a forbidden word is refused only as a whole word, and only in texts that people read (Specification, Errors)", () => {
    const shop = new TestShop({ forbidden_words: ["darn"] })
    shop.does(create({ service: "Darning", item: "Darnley coat", external_ref: "darn" }))
    expect(shop.does(create({ service: "Darning", item: null, description: null, items: null })).items).toEqual([])
    expect(shop.eventTypes).toEqual(["ticket.created"])
  })

  it("a word of a language's list is refused only in shops of that language (Specification, Errors)", () => {
    const foundWords = [{ field: "item", word: "schlampe", languages: ["de", "it"] }] as const
    const item = "Schlampe"
    expect(new TestShop({ languages: ["de"] }).refuses(create({ item }, foundWords))).toMatchObject({ field: "item" })
    expect(new TestShop({ languages: ["en", "fr"] }).does(create({ item }, foundWords)).item).toBe(item)
    expect(new TestShop({ languages: [] }).does(create({ item }, foundWords)).item).toBe(item)
  })

  it("a word that is forbidden in one language and harmless in another language of the shop is accepted (Specification, Errors)", () => {
    const foundWords = [{ field: "item", word: "dick", languages: ["en"] }] as const
    expect(new TestShop({ languages: ["de", "en"] }).does(create({ item: "dick gefüttert" }, foundWords)).number).toBe(
      1
    )
    expect(new TestShop({ languages: ["en"] }).refuses(create({ item: "dick" }, foundWords))).toMatchObject({
      field: "item"
    })
  })

  it("a shop can allow a word or a phrase of the list, and other words of the list stay forbidden (Specification, Sandbox)", () => {
    const shop = new TestShop({ allowed_words: ["Hem", "coat of arms"] })
    const coat = [{ field: "item", word: "coat" }]
    expect(shop.does(create({}, HEM)).service).toBe("Hem")
    expect(shop.does(create({ item: "a COAT of arms" }, coat)).number).toBe(2)
    expect(shop.refuses(create({ item: "coat of arms on a coat" }, coat))).toMatchObject({ field: "item" })
  })

  it("a shop allows a word by the name that the filter returns, even if the text spells it differently (Specification, Sandbox)", () => {
    const foundWords = [{ field: "item", word: "coat" }]
    expect(new TestShop().refuses(create({ item: "c0at" }, foundWords))).toMatchObject({ field: "item" })
    expect(new TestShop({ allowed_words: ["coat"] }).does(create({ item: "c0at" }, foundWords)).item).toBe("c0at")
    const both = [...foundWords, { field: "item", word: "hat" }]
    expect(new TestShop({ allowed_words: ["coat"] }).refuses(create({ item: "c0at h4t" }, both))).toMatchObject({
      field: "item"
    })
  })

  it("a text is scanned a few times at most, however many of its words are found and allowed (Specification, Sandbox)", () => {
    const alike = Array.from({ length: 1000 }, (_, i) => `coat ${"of a ".repeat(10)}b${i}`)
    const shop = new TestShop({ allowed_words: ["coat", ...alike], forbidden_words: alike })
    const description = "coat of a ".repeat(200).trim()
    const foundWords = Array.from({ length: 200 }, () => ({ field: "description", word: "coat" }))
    const { match } = String.prototype
    let texts = 0
    String.prototype.match = function (this: string, ...args: Parameters<typeof match>) {
      texts++
      return match.apply(this, args)
    } as typeof match
    try {
      expect(shop.does(create({ description }, foundWords)).number).toBe(1)
    } finally {
      String.prototype.match = match
    }
    // One scan for each of the shop's two thousand entries, and some for the found words.
    expect(texts).toBeGreaterThan(1_000)
    expect(texts).toBeLessThan(3_000)
  })

  it("a word that the shop both forbids and allows is refused (Specification, Sandbox)", () => {
    const shop = new TestShop({ forbidden_words: ["darn"], allowed_words: ["darn"] })
    expect(shop.refuses(create({ item: "darn" }))).toMatchObject({ field: "item" })
  })

  it("the forbidden words of one shop do not count in another (Specification, Sandbox)", () => {
    expect(new TestShop().does(create({ item: "darn" })).item).toBe("darn")
  })

  it("the order of refusals is 404, then 422, then 429 (Specification, Errors)", () => {
    const shop = new TestShop()
    for (let n = 0; n < 150; n++) shop.create()
    const all = { client_id: AMIRA.id }
    expect(shop.refuses(create(all, HEM))._tag).toBe("ClientNotFound")
    expect(shop.refuses(create({}, HEM))._tag).toBe("ForbiddenWord")
    expect(shop.refuses(create())._tag).toBe("LimitReached")
    shop.meets(AMIRA)
    expect(shop.refuses(create(all, HEM))._tag).toBe("ForbiddenWord")
  })
})

describe("Specification, Tickets: the fields of a new ticket", () => {
  const read = Schema.decodeUnknownEither(TicketInput)
  const accepts = (fields: object) => Either.isRight(read({ service: "Hem", ...fields }))
  const items = (n: number) => Array.from({ length: n }, () => ({ label: "x" }))

  it("a deposit above the price is reported with its field, together with all other errors (Specification, Errors)", () => {
    const issues = (fields: object) => {
      const decoded = Schema.decodeUnknownEither(TicketInput, { errors: "all" })(fields)
      return Either.isLeft(decoded)
        ? inputIssues(decoded.left.issue).map(({ field, message }) => `${field} ${message}`)
        : []
    }
    const deposit = "deposit_minor must not be greater than price_minor"
    expect(issues({ service: "Hem", price_minor: 1, deposit_minor: 2 })).toEqual([deposit])
    expect(issues({ price_minor: 1, deposit_minor: 2 })).toEqual(["service is required", deposit])
    expect(issues({ service: "Hem", price_minor: 1 })).toEqual([])
    expect(issues({ service: "Hem", deposit_minor: 2 })).toEqual([])
    for (const invalid of [
      { price_minor: -1, deposit_minor: 2 },
      { price_minor: 1, deposit_minor: "2" }
    ])
      expect(issues({ service: "Hem", ...invalid }).join()).not.toContain("than price_minor")
    expect(issues({ service: "Hem", items: items(1) })).toEqual(["items must have 2 to 20 entries"])
    expect(issues({ service: "Hem", items: items(21) })).toEqual(["items must have 2 to 20 entries"])
  })

  it("the service is required and has 1 to 120 characters (Specification, Tickets)", () => {
    expect(Either.isRight(read({}))).toBe(false)
    expect(accepts({ service: "" })).toBe(false)
    expect(accepts({ service: "  " })).toBe(false)
    expect(accepts({ service: "𝄞".repeat(120) })).toBe(true)
    expect(accepts({ service: "x".repeat(121) })).toBe(false)
  })

  const LONGEST = [
    ["item", 200],
    ["description", 2000],
    ["external_ref", 64]
  ] as const
  for (const [field, longest] of LONGEST) {
    it(`${field} has at most ${longest} characters (Specification, Tickets; Limits)`, () => {
      expect(accepts({ [field]: "x".repeat(longest) })).toBe(true)
      expect(accepts({ [field]: "x".repeat(longest + 1) })).toBe(false)
    })
  }

  it("an item's label has at most 200 characters, its service 120 (Specification, Tickets)", () => {
    const two = (item: object) => accepts({ items: [{ label: "x" }, item] })
    expect(two({ label: "x".repeat(200), service: "x".repeat(120) })).toBe(true)
    expect(two({ label: "x".repeat(201) })).toBe(false)
    expect(two({ label: "x", service: "x".repeat(121) })).toBe(false)
    expect(two({ service: "x" })).toBe(false)
  })

  it("a list of items has 2 to 20 entries (Specification, Limits)", () => {
    expect([0, 1, 2, 20, 21].map((n) => accepts({ items: items(n) }))).toEqual([false, false, true, true, false])
  })

  it("amounts are whole numbers from 0 to 1,000,000,000,000 (Specification, Tickets)", () => {
    const amounts = [0, 1_000_000_000_000, 1_000_000_000_001, -1, 1.5, "5"]
    expect(amounts.map((price_minor) => accepts({ price_minor }))).toEqual([true, true, false, false, false, false])
  })

  it("a deposit above the price is refused, and one equal to the price is accepted (Specification, Tickets)", () => {
    expect(accepts({ price_minor: 5, deposit_minor: 5 })).toBe(true)
    expect(accepts({ price_minor: 5, deposit_minor: 6 })).toBe(false)
    expect(accepts({ price_minor: null, deposit_minor: 6 })).toBe(true)
  })

  it("the type is repair or prepare (Specification, Requests and responses)", () => {
    expect(["repair", "prepare", "Repair", ""].map((type) => accepts({ type }))).toEqual([true, true, false, false])
  })

  it("null for an optional field means absent (Specification, Errors)", () => {
    const nothing = { type: null, item: null, description: null, items: null, client_id: null, client_phone: null }
    const more = { price_minor: null, deposit_minor: null, promised_at: null, external_ref: null }
    const shop = new TestShop()
    const left_out = shop.record(shop.create())
    const nulls = shop.record(shop.create({ ...nothing, ...more }))
    const { id, number, tracking_code, change_seq } = left_out
    expect({ ...nulls, id, number, tracking_code, change_seq }).toEqual(left_out)
  })
})
