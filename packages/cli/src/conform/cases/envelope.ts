import { expectThat } from "../Broken.js"
import { casesOf, type Row } from "../Case.js"
import type { Ticket } from "../Shapes.js"

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Envelope, money and dates of every answer (Specification, Requests and answers; Lists and sync; Errors). */
export const envelopeCases = casesOf("§1", [
  {
    id: "envelope-success",
    rule: "A success is a JSON object with success true and data.",
    anchor: "rule-envelope-success",
    needs: "key",
    run: async (world) => {
      const answer = await (await world.shop()).get("/shop")
      answer.withHeader("Content-Type", /^application\/json/).ok()
    }
  },
  {
    id: "envelope-unknown-route",
    rule: "A path of no endpoint is a 404 in the envelope.",
    anchor: "rule-envelope-success",
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
    anchor: "rule-envelope-success",
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
        anchor: "rule-envelope-method-all",
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
    anchor: "rule-envelope-method-all",
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
    anchor: "rule-envelope-head",
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
    anchor: "rule-envelope-malformed-json",
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
    anchor: "rule-envelope-malformed-json",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.create({}, { headers: { "Content-Type": "text/plain" } })).invalid()
    }
  },
  {
    id: "envelope-too-large",
    rule: "A body over 64 KiB is a 400, and the connection lives long enough to say so.",
    anchor: "rule-envelope-malformed-json",
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
    anchor: "rule-envelope-malformed-json",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      for (const raw of ["[]", "null", '"Hem"', "1"]) (await shop.create({}, { raw })).invalid()
    }
  },
  {
    id: "envelope-member-twice",
    rule: "A member given twice in one object of a body is a 400 that names it.",
    anchor: "rule-envelope-member-twice",
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
    anchor: "rule-instants-utc",
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
    anchor: "rule-instants-offset",
    needs: "key",
    run: async (world) => {
      const answer = await (await world.shop()).create({ promised_at: "2031-05-04T12:30:00+02:00" })
      answer.shows({ promised_at: "2031-05-04T10:30:00.000Z" }, 201)
    }
  },
  {
    id: "money-minor-units",
    rule: "Amounts are whole numbers of minor units beside the shop's currency and its decimals.",
    anchor: "rule-money-minor-units",
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
    anchor: "rule-one-key-one-shop",
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
    anchor: "rule-api-disabled",
    run: async (world) => {
      const shop = await (await world.shop()).set({ api_enabled: false })
      ;(await shop.get("/shop")).refused(403, "API_DISABLED")
      await shop.set({ api_enabled: true })
      ;(await shop.get("/shop")).ok()
    }
  }
])
