import { type Case, casesOf, type Row } from "../Case.js"

/** Field and the most characters that it takes. */
const lengths = [
  ["service", 120],
  ["item", 200],
  ["description", 2000],
  ["external_ref", 64]
] as const

/** What texts, amounts and lists may be, at each edge and past it (Specification, Endpoints; Limits; Tickets). */
export const textCases: ReadonlyArray<Case> = casesOf("§4", [
  ...lengths.map(
    ([field, most]) =>
      ({
        id: `length-${field.replace("_", "-")}`,
        rule: `${field} takes ${most} characters and not one more; a character outside the basic plane counts once.`,
        anchor: "rule-length-all",
        needs: "key",
        run: async (world) => {
          const shop = await world.shop()
          const longest = "🧵".repeat(most)
          ;(await shop.create({ [field]: ` ${longest}\t` })).shows({ [field]: longest }, 201)
          ;(await shop.create({ [field]: `${"x".repeat(most)}y` })).invalid(`body ${field}`)
          ;(await shop.create({ [field]: " \n " })).invalid(`body ${field}`)
        }
      }) satisfies Row
  ),
  {
    id: "length-items",
    rule: "An item's label takes 200 characters, its service 120.",
    anchor: "rule-length-all",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const full = { label: "l".repeat(200), service: "s".repeat(120) }
      ;(await shop.create({ items: [full, full] })).shows({ items: [full, full] }, 201)
      const long = { label: "l".repeat(201), service: "s".repeat(121) }
      ;(await shop.create({ items: [full, long] })).invalid("body items.1.label", "body items.1.service")
    }
  },
  {
    id: "service-required",
    rule: "A ticket needs a service, as a text.",
    anchor: "rule-length-all",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      for (const service of [undefined, null, "", 7, ["Hem"]]) (await shop.create({ service })).invalid("body service")
    }
  },
  {
    id: "type-enum",
    rule: "The type is repair or prepare and nothing else.",
    anchor: "rule-type-enum",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.create({ type: "prepare" })).shows({ type: "prepare" }, 201)
      ;(await shop.create({ type: "order" })).invalid("body type")
    }
  },
  {
    id: "text-control-characters",
    rule: "Newline and tab are taken; other control characters and lone surrogates are refused.",
    anchor: "rule-text-control-characters",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.create({ description: "one\n\ttwo" })).shows({ description: "one\n\ttwo" }, 201)
      for (const bad of ["\\u0000", "\\u0007", "\\u007f", "\\u0085", "\\ud800"]) {
        const raw = `{"service":"Hem","description":"a${bad}b"}`
        ;(await shop.create({}, { raw })).invalid("body description")
      }
    }
  },
  {
    id: "items-count",
    rule: "Several items are 2 to 20.",
    anchor: "rule-items-count",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const items = (n: number) => Array.from({ length: n }, (_, i) => ({ label: `Item ${i + 1}` }))
      for (const n of [2, 20]) (await shop.create({ items: items(n) })).shows({ items: items(n) }, 201)
      for (const n of [0, 1, 21]) (await shop.create({ items: items(n) })).invalid("body items")
    }
  },
  {
    id: "amount-range",
    rule: "Amounts are whole numbers from 0 to a million million.",
    anchor: "rule-amount-range",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      for (const price_minor of [0, 1_000_000_000_000]) {
        ;(await shop.create({ price_minor })).shows({ money: { price_minor } }, 201)
      }
      for (const price_minor of [-1, 1_000_000_000_001, 0.5, "100", true]) {
        ;(await shop.create({ price_minor })).invalid("body price_minor")
      }
    }
  },
  {
    id: "deposit-above-price",
    rule: "A deposit may be as high as the price and not higher.",
    anchor: "rule-amount-range",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.create({ price_minor: 100, deposit_minor: 100 })).shows({ money: { remaining_minor: 0 } }, 201)
      ;(await shop.create({ price_minor: 100, deposit_minor: 101 })).invalid()
    }
  },
  {
    id: "quote-below-deposit",
    rule: "A quote below what was paid already is a 400.",
    anchor: "rule-amount-range",
    run: async (world) => {
      const { id } = await (await world.shop()).ticket({ price_minor: 500, deposit_minor: 300 })
      ;(await world.sandbox("POST", `/tickets/${id}/quote`, { price_minor: 299 })).invalid("body price_minor")
      ;(await world.sandbox("POST", `/tickets/${id}/quote`, { price_minor: 300 })).ok()
    }
  },
  {
    id: "promised-at-format",
    rule: "A promise is an instant that exists.",
    anchor: "rule-instants-offset",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      for (const promised_at of ["tomorrow", "2031-02-30T10:00:00Z", 1_893_456_000_000]) {
        ;(await shop.create({ promised_at })).invalid("body promised_at")
      }
    }
  }
])
