import { casesOf, test } from "../Case.js"

/** Field and the most characters that it takes. */
const lengths = [
  ["service", 120],
  ["item", 200],
  ["description", 2000],
  ["external_ref", 64]
] as const

/** What texts, amounts and lists may be, at each edge and past it (Specification, Endpoints; Limits; Tickets). */
export const textCases = casesOf("§4", [
  ...lengths.map(([field, most]) =>
    test(`length-${field.replace("_", "-")} (rule-length-all, key): ${field} takes ${most} characters and not one more; a character outside the basic plane counts once.`, async (shop) => {
      const longest = "🧵".repeat(most)
      ;(await shop.create({ [field]: ` ${longest}\t` })).shows({ [field]: longest }, 201)
      ;(await shop.create({ [field]: `${"x".repeat(most)}y` })).invalid(`body ${field}`)
      ;(await shop.create({ [field]: " \n " })).invalid(`body ${field}`)
    })
  ),
  test("length-items (rule-length-all, key): An item's label takes 200 characters, its service 120.", async (shop) => {
    const full = { label: "l".repeat(200), service: "s".repeat(120) }
    ;(await shop.create({ items: [full, full] })).shows({ items: [full, full] }, 201)
    const long = { label: "l".repeat(201), service: "s".repeat(121) }
    ;(await shop.create({ items: [full, long] })).invalid("body items.1.label", "body items.1.service")
  }),
  test("service-required (rule-length-all, key): A ticket needs a service, as a text.", async (shop) => {
    for (const service of [undefined, null, "", 7, ["Hem"]]) (await shop.create({ service })).invalid("body service")
  }),
  test("type-enum (rule-type-enum, key): The type is repair or prepare and nothing else.", async (shop) => {
    ;(await shop.create({ type: "prepare" })).shows({ type: "prepare" }, 201)
    ;(await shop.create({ type: "order" })).invalid("body type")
  }),
  test("text-control-characters (rule-text-control-characters, key): Newline and tab are taken; other control characters and lone surrogates are refused.", async (shop) => {
    ;(await shop.create({ description: "one\n\ttwo" })).shows({ description: "one\n\ttwo" }, 201)
    for (const bad of ["\\u0000", "\\u0007", "\\u007f", "\\u0085", "\\ud800"]) {
      const raw = `{"service":"Hem","description":"a${bad}b"}`
      ;(await shop.create({}, { raw })).invalid("body description")
    }
  }),
  test("items-count (rule-items-count, key): Several items are 2 to 20.", async (shop) => {
    const items = (n: number) => Array.from({ length: n }, (_, i) => ({ label: `Item ${i + 1}` }))
    for (const n of [2, 20]) (await shop.create({ items: items(n) })).shows({ items: items(n) }, 201)
    for (const n of [0, 1, 21]) (await shop.create({ items: items(n) })).invalid("body items")
  }),
  test("amount-range (rule-amount-range, key): Amounts are whole numbers from 0 to a million million.", async (shop) => {
    for (const price_minor of [0, 1_000_000_000_000])
      (await shop.create({ price_minor })).shows({ money: { price_minor } }, 201)
    for (const price_minor of [-1, 1_000_000_000_001, 0.5, "100", true])
      (await shop.create({ price_minor })).invalid("body price_minor")
  }),
  test("deposit-above-price (rule-amount-range, key): A deposit may be as high as the price and not higher.", async (shop) => {
    ;(await shop.create({ price_minor: 100, deposit_minor: 100 })).shows({ money: { remaining_minor: 0 } }, 201)
    ;(await shop.create({ price_minor: 100, deposit_minor: 101 })).invalid()
  }),
  test("quote-below-deposit (rule-amount-range): A quote below what was paid already is a 400.", async (shop) => {
    const { id } = await shop.ticket({ price_minor: 500, deposit_minor: 300 })
    ;(await shop.env.sandbox("propose quote", id, { price_minor: 299 })).invalid("body price_minor")
    ;(await shop.env.sandbox("propose quote", id, { price_minor: 300 })).ok()
  }),
  test("promised-at-format (rule-instants-offset, key): A promise is an instant that exists.", async (shop) => {
    for (const promised_at of ["tomorrow", "2031-02-30T10:00:00Z", 1_893_456_000_000])
      (await shop.create({ promised_at })).invalid("body promised_at")
  })
])
