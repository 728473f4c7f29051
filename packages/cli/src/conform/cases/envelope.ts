import type { Ticket } from "../../testkit/Shapes.js"
import { casesOf, test } from "../Case.js"
import { expectThat } from "../Expectations.js"

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Envelope, money and dates of every answer (Specification, Requests and answers; Lists and sync; Errors). */
export const envelopeCases = casesOf("§1", [
  test("envelope-success (rule-envelope-success, key): A success is a JSON object with success true and data.", async (shop) => {
    const answer = await shop.get("/shop")
    answer.withHeader("Content-Type", /^application\/json/).ok()
  }),
  test("envelope-unknown-route (rule-envelope-success, key): A path of no endpoint is a 404 in the envelope.", async (shop) => {
    const answer = await shop.get("/nothing-here")
    answer.withHeader("Content-Type", /^application\/json/).refused(404, "NOT_FOUND")
    expectThat(typeof answer.error.message === "string", "error.message to be a text", answer.error.message)
  }),
  test("envelope-outside (rule-envelope-success, key): A path outside the API is a 404 in the envelope, and no key is asked.", async (shop) => {
    ;(await shop.env.api("GET", "/nothing-here")).refused(404, "NOT_FOUND")
  }),
  // The last is one of which no HTTP library knows.
  ...["PUT", "DELETE", "PATCH", "BREW"].map((method) =>
    test(`envelope-method-${method.toLowerCase()} (rule-envelope-method-all, key): ${method} /v1/tickets is a 404 in the envelope, and the server goes on.`, async (shop) => {
      const { key } = shop
      ;(await shop.env.api(method, "/v1/tickets", { bearer: key })).refused(404, "NOT_FOUND")
      ;(await shop.env.api("GET", "/v1/tickets", { bearer: key })).ok()
    })
  ),
  test("envelope-options (rule-envelope-method-all, key): OPTIONS is an unknown method, and no answer bears CORS headers.", async (shop) => {
    const { key } = shop
    const headers = { Origin: "https://shop.example.com", "Access-Control-Request-Method": "POST" }
    const answer = await shop.env.api("OPTIONS", "/v1/tickets", { bearer: key, headers })
    answer.refused(404, "NOT_FOUND").withHeader("Access-Control-Allow-Origin", undefined)
  }),
  test("envelope-head (rule-envelope-head, key): HEAD answers as GET does, without the body.", async (shop) => {
    const { key } = shop
    const answer = await shop.env.api("HEAD", "/v1/shop", { bearer: key })
    expectThat(answer.status === 200, "status 200", answer.status)
    expectThat(answer.exchange.response.body === "", "no body", answer.exchange.response.body)
  }),
  test("envelope-malformed-json (rule-envelope-malformed-json, key): A body that is no JSON is a 400 in the envelope.", async (shop) => {
    const answer = await shop.create({}, { raw: '{"service":' })
    answer.invalid()
  }),
  test("envelope-content-type (rule-envelope-malformed-json, key): A body that is not sent as JSON is a 400.", async (shop) => {
    ;(await shop.create({}, { headers: { "Content-Type": "text/plain" } })).invalid()
  }),
  test("envelope-too-large (rule-envelope-malformed-json, key): A body over 64 KiB is a 400, and the connection lives long enough to say so.", async (shop) => {
    const raw = `{"service":"Hem"${" ".repeat(64 * 1024)}}`
    ;(await shop.create({}, { raw })).invalid()
  }),
  test("envelope-not-an-object (rule-envelope-malformed-json, key): A body that is JSON but no object is a 400.", async (shop) => {
    for (const raw of ["[]", "null", '"Hem"', "1"]) (await shop.create({}, { raw })).invalid()
  }),
  test("envelope-member-twice (rule-envelope-member-twice, key): A member given twice in one object of a body is a 400 that names it.", async (shop) => {
    ;(await shop.create({}, { raw: '{"service":"Hem","service":"Zip"}' })).invalid("body service")
    const items = '"items":[{"label":"Left"},{"label":"Right","label":"Right"}]'
    ;(await shop.create({}, { raw: `{"service":"Hem",${items}}` })).invalid("body items.1.label")
  }),
  test("instants-utc (rule-instants-utc, key): Instants are ISO 8601 in UTC with milliseconds and Z.", async (shop) => {
    const answer = await shop.create()
    answer.shows({ created_at: INSTANT, updated_at: INSTANT }, 201)
  }),
  test("instants-offset (rule-instants-offset, key): An instant given with an offset is answered in UTC.", async (shop) => {
    const answer = await shop.create({ promised_at: "2031-05-04T12:30:00+02:00" })
    answer.shows({ promised_at: "2031-05-04T10:30:00.000Z" }, 201)
  }),
  test("money-minor-units (rule-money-minor-units): Amounts are whole numbers of minor units beside the shop's currency and its decimals.", async (shop) => {
    const tunis = await shop.env.openShop({ currency: "TND", decimals: 3 })
    const paris = await shop.env.openShop({ currency: "EUR", decimals: 2 })
    const body = { price_minor: 12_345 }
    ;(await tunis.create(body)).shows({ money: { currency: "TND", decimals: 3, price_minor: 12_345 } }, 201)
    ;(await paris.create(body)).shows({ money: { currency: "EUR", decimals: 2, price_minor: 12_345 } }, 201)
  }),
  test("one-key-one-shop (rule-one-key-one-shop): A key reaches the data of its own shop and of no other.", async (shop) => {
    const [mine, theirs] = [shop, await shop.env.openShop()]
    const ticket = await theirs.ticket()
    ;(await mine.get<ReadonlyArray<Ticket>>("/tickets")).shows([])
    ;(await mine.get(`/tickets/${ticket.id}`)).refused(404, "NOT_FOUND")
    ;(await mine.status(ticket.id, "ready")).refused(404, "NOT_FOUND")
    ;(await mine.notified(ticket.id)).refused(404, "NOT_FOUND")
    ;(await mine.get(`/tickets/by-number/${ticket.number}`)).refused(404, "NOT_FOUND")
  }),
  test("api-disabled (rule-api-disabled): While the API is off for a shop its calls answer API_DISABLED, and work again once it is on.", async (shop) => {
    await shop.set({ api_enabled: false })
    ;(await shop.get("/shop")).refused(403, "API_DISABLED")
    await shop.set({ api_enabled: true })
    ;(await shop.get("/shop")).ok()
  })
])
