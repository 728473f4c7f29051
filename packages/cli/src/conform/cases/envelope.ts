import { expectThat } from "../Broken.js"
import { casesOf, type Row } from "../Case.js"
import type { Ticket } from "../Shapes.js"

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Envelope, money and dates of every answer (spec §1, contract §1 and §2). */
export const envelopeCases = casesOf("§1", [
  {
    id: "envelope-success",
    rule: "A success is a JSON object with success true and data.",
    sentence: "spec §1: Success: `success` is true and `data` holds the result.",
    needs: "key",
    run: async (world) => {
      const answer = await (await world.shop()).get("/shop")
      answer.withHeader("Content-Type", /^application\/json/).ok()
    }
  },
  {
    id: "envelope-unknown-route",
    rule: "A path of no endpoint is a 404 in the envelope.",
    sentence: "contract §1: every answer is JSON in this envelope, unknown route included; contract §2: 404 NOT_FOUND.",
    needs: "key",
    run: async (world) => {
      const answer = await (await world.shop()).get("/nothing-here")
      answer.withHeader("Content-Type", /^application\/json/).refused(404, "NOT_FOUND")
      expectThat(typeof answer.error.message === "string", "error.message to be a text", answer.error.message)
    }
  },
  {
    id: "envelope-outside",
    rule: "A path outside the API is a 404 in the envelope, and no key is asked.",
    sentence: "contract §11: any other path outside /v1 and /sandbox: 404 in the envelope, no key asked.",
    needs: "key",
    run: async (world) => {
      ;(await world.api("GET", "/nothing-here")).refused(404, "NOT_FOUND")
    }
  },
  // The last is one of which no HTTP library knows.
  ...["PUT", "DELETE", "PATCH", "BREW"].map(
    (method) =>
      ({
        id: `envelope-method-${method.toLowerCase()}`,
        rule: `${method} /v1/tickets is a 404 in the envelope, and the server goes on.`,
        sentence: "contract §2: unknown route or method: 404 NOT_FOUND (after authentication).",
        needs: "key" as const,
        run: async (world) => {
          const { key } = await world.shop()
          ;(await world.api(method, "/v1/tickets", { bearer: key })).refused(404, "NOT_FOUND")
          ;(await world.api("GET", "/v1/tickets", { bearer: key })).ok()
        }
      }) satisfies Row
  ),
  {
    id: "envelope-options",
    rule: "OPTIONS is an unknown method, and no answer bears CORS headers.",
    sentence: "contract §2: OPTIONS and other methods are unknown (404); no CORS headers.",
    needs: "key",
    run: async (world) => {
      const { key } = await world.shop()
      const headers = { Origin: "https://shop.example.com", "Access-Control-Request-Method": "POST" }
      const answer = await world.api("OPTIONS", "/v1/tickets", { bearer: key, headers })
      answer.refused(404, "NOT_FOUND").withHeader("Access-Control-Allow-Origin", undefined)
    }
  },
  {
    id: "envelope-head",
    rule: "HEAD answers as GET does, without the body.",
    sentence: "contract §2: HEAD answers as GET without a body.",
    needs: "key",
    run: async (world) => {
      const { key } = await world.shop()
      const answer = await world.api("HEAD", "/v1/shop", { bearer: key })
      expectThat(answer.status === 200, "status 200", answer.status)
      expectThat(answer.exchange.answer.body === "", "no body", answer.exchange.answer.body)
    }
  },
  {
    id: "envelope-malformed-json",
    rule: "A body that is no JSON is a 400 in the envelope.",
    sentence: "contract §2: malformed JSON: 400 VALIDATION_ERROR.",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const answer = await shop.create({}, { raw: '{"service":' })
      answer.invalid()
    }
  },
  {
    id: "envelope-content-type",
    rule: "A body that is not sent as JSON is a 400.",
    sentence: "contract §2: wrong content type: 400 VALIDATION_ERROR.",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.create({}, { headers: { "Content-Type": "text/plain" } })).invalid()
    }
  },
  {
    id: "envelope-too-large",
    rule: "A body over 64 KiB is a 400, and the connection lives long enough to say so.",
    sentence: "contract §2: a body over 64 KiB: 400 VALIDATION_ERROR.",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const raw = `{"service":"Hem"${" ".repeat(64 * 1024)}}`
      ;(await shop.create({}, { raw })).invalid()
    }
  },
  {
    id: "envelope-not-an-object",
    rule: "A body that is JSON but no object is a 400.",
    sentence: "spec §7: 400 VALIDATION_ERROR, invalid body or parameter.",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      for (const raw of ["[]", "null", '"Hem"', "1"]) (await shop.create({}, { raw })).invalid()
    }
  },
  {
    id: "envelope-member-twice",
    rule: "A member given twice in one object of a body is a 400 that names it.",
    sentence: "contract §12: a member given twice in one JSON object is 400.",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.create({}, { raw: '{"service":"Hem","service":"Zip"}' })).invalid("body service")
      const items = '"items":[{"label":"Left"},{"label":"Right","label":"Right"}]'
      ;(await shop.create({}, { raw: `{"service":"Hem",${items}}` })).invalid("body items.1.label")
    }
  },
  {
    id: "instants-utc",
    rule: "Instants are ISO 8601 in UTC with milliseconds and Z.",
    sentence: "spec §1: dates and times are ISO 8601 in UTC; contract §4: with milliseconds and `Z`.",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const answer = await shop.create()
      answer.shows({ created_at: INSTANT, updated_at: INSTANT }, 201)
    }
  },
  {
    id: "instants-offset",
    rule: "An instant given with an offset is answered in UTC.",
    sentence: "spec §1: dates and times are ISO 8601 in UTC.",
    needs: "key",
    run: async (world) => {
      const answer = await (await world.shop()).create({ promised_at: "2031-05-04T12:30:00+02:00" })
      answer.shows({ promised_at: "2031-05-04T10:30:00.000Z" }, 201)
    }
  },
  {
    id: "money-minor-units",
    rule: "Amounts are whole numbers of minor units beside the shop's currency and its decimals.",
    sentence: "spec §1: amounts are integers in minor units, accompanied by the currency and its number of decimals.",
    run: async (world) => {
      const tunis = await world.shop({ currency: "TND", decimals: 3 })
      const paris = await world.shop({ currency: "EUR", decimals: 2 })
      const body = { price_minor: 12_345 }
      ;(await tunis.create(body)).shows({ money: { currency: "TND", decimals: 3, price_minor: 12_345 } }, 201)
      ;(await paris.create(body)).shows({ money: { currency: "EUR", decimals: 2, price_minor: 12_345 } }, 201)
    }
  },
  {
    id: "one-key-one-shop",
    rule: "A key reaches the data of its own shop and of no other.",
    sentence: "spec §1: one API key belongs to one shop and reaches only that shop's data.",
    run: async (world) => {
      const [mine, theirs] = [await world.shop(), await world.shop()]
      const ticket = await theirs.ticket()
      ;(await mine.get<ReadonlyArray<Ticket>>("/tickets")).shows([])
      ;(await mine.get(`/tickets/${ticket.id}`)).refused(404, "NOT_FOUND")
      ;(await mine.status(ticket.id, "ready")).refused(404, "NOT_FOUND")
      ;(await mine.notified(ticket.id)).refused(404, "NOT_FOUND")
      ;(await mine.get(`/tickets/by-number/${ticket.number}`)).refused(404, "NOT_FOUND")
    }
  },
  {
    id: "api-disabled",
    rule: "While the API is off for a shop its calls answer API_DISABLED, and work again once it is on.",
    sentence: "spec §1: the API is switched on per shop; until then calls answer `API_DISABLED`.",
    run: async (world) => {
      const shop = await (await world.shop()).set({ api_enabled: false })
      ;(await shop.get("/shop")).refused(403, "API_DISABLED")
      await shop.set({ api_enabled: true })
      ;(await shop.get("/shop")).ok()
    }
  }
])
