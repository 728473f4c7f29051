import { UNKNOWN_ID } from "../../testkit/Ids.js"
import { DAY, HOUR, MINUTE, SECOND } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseEnvironment, CaseShop } from "../CaseEnvironment.js"
import { expectSame } from "../Expectations.js"

/** Moves the clock to the next midnight in Tunis, which is one hour ahead of UTC all year. */
const toMidnight = async (env: CaseEnvironment): Promise<void> => {
  const past = (Date.parse(await env.instant()) + HOUR) % DAY
  await env.advance(DAY - past)
}

const many = async (shop: CaseShop, n: number) => {
  for (let i = 0; i < n; i++) (await shop.app()).ok(201)
}

/**
 * The limits on requests, writes and tickets: the last use that each allows, and the first that it refuses
 * (Specification, Limits).
 */
export const limitCases = casesOf("§8", [
  test("limit-requests (rule-limit-requests): A key has 120 requests a minute. The next request gets a 429 until sixty seconds after the minute's first request.", async (shop) => {
    const other = await shop.with({ preset: "full" })
    for (let i = 119; i >= 0; i--) (await shop.get("/shop")).withHeader("RateLimit-Remaining", String(i)).ok()
    const refused = (await shop.get("/shop")).limited("requests_per_minute")
    refused.withHeader("RateLimit-Limit", "120").withHeader("RateLimit-Reset", "60").withHeader("Retry-After", "60")
    ;(await other.get("/shop")).ok()
    await shop.env.advance(MINUTE - 1)
    // The server rounds the header up to whole seconds, so a wait of one millisecond is shown as one second. Rounded
    // down, a client would repeat its request too early.
    ;(await shop.get("/shop"))
      .withHeader("RateLimit-Reset", "1")
      .withHeader("Retry-After", "1")
      .refused(429, "TOO_MANY_ATTEMPTS")
    await shop.env.advance(1)
    ;(await shop.get("/shop")).ok()
  }),
  test("limit-requests-any-answer (rule-limit-requests): A request counts against the limit, even if its response is a refusal.", async (shop) => {
    ;(await shop.get("/shop")).withHeader("RateLimit-Remaining", "119")
    ;(await shop.get("/nothing-here")).withHeader("RateLimit-Remaining", "118").refused(404, "NOT_FOUND")
    ;(await shop.get("/tickets?limit=0")).withHeader("RateLimit-Remaining", "117").refused(400, "VALIDATION_ERROR")
    ;(await shop.get(`/tickets/${UNKNOWN_ID}`)).withHeader("RateLimit-Remaining", "116").refused(404, "NOT_FOUND")
  }),
  test("limit-requests-refused (rule-limit-requests): A request that gets a 429 from another limit does not count against the key's request limit, even if only one request is left.", async (shop) => {
    const client = await shop.loyal()
    for (let i = 0; i < 2; i++) (await shop.stamps(client, 10)).ok()
    for (let i = 117; i >= 1; i--) (await shop.get("/shop")).withHeader("RateLimit-Remaining", String(i)).ok()
    ;(await shop.stamps(client, 1)).limited("stamps_per_day")
    ;(await shop.get("/shop")).withHeader("RateLimit-Remaining", "0").ok()
    ;(await shop.get("/shop")).limited("requests_per_minute")
  }),
  test("limit-writes (rule-limit-requests): A key has 30 writes a minute. When they are used up, the key can still read, and another key can still write.", async (shop) => {
    const other = await shop.with({ preset: "full" })
    for (let i = 29; i >= 0; i--) (await shop.create()).withHeader("RateLimit-Remaining", String(i)).ok(201)
    const refused = (await shop.create()).limited("writes_per_minute")
    refused.withHeader("RateLimit-Limit", "30")
    ;(await shop.get("/shop")).ok()
    ;(await other.create()).ok(201)
    await shop.env.advance(MINUTE)
    ;(await shop.create()).ok(201)
  }),
  test("limit-writes-count (rule-limit-requests): A POST counts as a write once it has passed the checks that return 403, whether it succeeds or not.", async (shop) => {
    const reader = await shop.with({ preset: "read" })
    for (let i = 0; i < 31; i++) (await reader.create()).refused(403, "FORBIDDEN")
    for (let i = 0; i < 30; i++) (await shop.create({ service: "" })).refused(400, "VALIDATION_ERROR")
    ;(await shop.create()).limited("writes_per_minute")
  }),
  test("limit-tickets-hour (rule-limit-tickets-hour): A shop can create 150 tickets an hour, counting those of the app and the API together.", async (shop) => {
    await many(shop, 149)
    ;(await shop.create()).withHeader("RateLimit-Limit", "150").withHeader("RateLimit-Remaining", "0").ok(201)
    const refused = (await shop.create()).limited("tickets_per_hour")
    refused.withHeader("RateLimit-Reset", "3600")
    ;(await shop.app()).limited("tickets_per_hour")
    await shop.env.advance(HOUR)
    ;(await shop.create()).shows({ number: 151 }, 201)
  }),
  test("limit-tickets-day (rule-limit-tickets-hour): A shop can create 600 tickets in a calendar day of its own time zone.", async (shop) => {
    await toMidnight(shop.env)
    for (let hour = 0; hour < 4; hour++) {
      await many(shop, 150)
      await shop.env.advance(HOUR)
    }
    const refused = (await shop.create()).limited("tickets_per_day")
    refused.withHeader("RateLimit-Limit", "600").withHeader("RateLimit-Reset", String((20 * HOUR) / SECOND))
    await shop.env.advance(20 * HOUR - 1)
    ;(await shop.create()).limited("tickets_per_day")
    await shop.env.advance(1)
    ;(await shop.create()).ok(201)
  }),
  test("limit-tickets-replay (rule-limit-tickets-replay): A replay succeeds when the shop has reached its ticket limit, and does not count against that limit.", async (shop) => {
    ;(await shop.create({}, { once: "early" })).ok(201)
    ;(await shop.create({}, { once: "early" })).ok(200)
    await many(shop, 149)
    ;(await shop.create()).limited("tickets_per_hour")
    ;(await shop.create({}, { once: "early" })).withMeta({ replayed: true }).ok(200)
  }),
  test("limit-failed-tickets (rule-limit-tickets-hour): A request that creates no ticket does not count against the ticket limit.", async (shop) => {
    for (let i = 0; i < 5; i++) (await shop.create({ client_id: UNKNOWN_ID })).refused(404, "NOT_FOUND")
    await many(shop, 149)
    ;(await shop.create()).ok(201)
  }),
  test("limit-lookups-hour (rule-limit-lookups-all): A shop can look up 60 phone numbers an hour, whether they are found or not, with all its keys together.", async (shop) => {
    const { phone } = await shop.known()
    for (let i = 0; i < 30; i++) {
      ;(await shop.lookUp(phone)).ok()
      ;(await shop.lookUp("+4915112345678")).refused(404, "NOT_FOUND")
    }
    const refused = (await shop.lookUp(phone)).limited("lookups_per_hour")
    refused.withHeader("RateLimit-Limit", "60").withHeader("RateLimit-Reset", "3600")
    const other = await shop.with({ preset: "full" })
    ;(await other.lookUp(phone)).limited("lookups_per_hour")
    await shop.env.advance(HOUR)
    ;(await shop.lookUp(phone)).ok()
  }),
  test("limit-lookups-count (rule-limit-lookups-all): Only a valid look-up by phone number counts against the look-up limit.", async (shop) => {
    const { id, phone } = await shop.known()
    ;(await shop.lookUp(phone)).withHeader("RateLimit-Limit", "60").withHeader("RateLimit-Remaining", "59").ok()
    ;(await shop.lookUp("nobody")).refused(400, "VALIDATION_ERROR")
    ;(await shop.get(`/clients/${id}`)).withHeader("RateLimit-Limit", "120").ok()
    ;(await shop.get(`/tickets?phone=${encodeURIComponent(phone)}`)).withHeader("RateLimit-Limit", "120").ok()
    ;(await shop.lookUp(phone)).withHeader("RateLimit-Remaining", "58").ok()
  }),
  test("limit-lookups-day (rule-limit-lookups-all): A shop can look up 300 phone numbers in a calendar day of its own time zone.", async (shop) => {
    const { phone } = await shop.known()
    await toMidnight(shop.env)
    for (let hour = 0; hour < 5; hour++) {
      for (let i = 0; i < 60; i++) (await shop.lookUp(phone)).ok()
      await shop.env.advance(HOUR)
    }
    ;(await shop.lookUp(phone)).limited("lookups_per_day")
    await shop.env.advance(19 * HOUR)
    ;(await shop.lookUp(phone)).ok()
  }),
  test("limit-stamps (rule-limit-stamps): A key can add twenty stamps to a client's card in a day. A request that would exceed the limit is refused completely, and one that stays within it succeeds.", async (shop) => {
    const client = await shop.loyal()
    ;(await shop.stamps(client, 10)).ok()
    ;(await shop.stamps(client, 9)).ok()
    ;(await shop.stamps(client, 2)).limited("stamps_per_day")
    ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 19 } })
    ;(await shop.stamps(client, 1)).ok()
    const refused = (await shop.stamps(client, 1)).limited("stamps_per_day")
    refused.withHeader("RateLimit-Limit", "20").withHeader("RateLimit-Remaining", "0")
  }),
  test("limit-stamps-by (rule-limit-stamps): The limit of twenty stamps is counted separately for each client and each key, and stamps that tickets earn do not count.", async (shop) => {
    await shop.program({ stamps_per_ticket: 5 })
    const [client, friend] = [await shop.known(), await shop.known()]
    const { id } = await shop.ticket({ client_id: client.id })
    ;(await shop.status(id, "ready")).ok()
    for (let i = 0; i < 2; i++) (await shop.stamps(client, 10)).ok()
    ;(await shop.stamps(client, 1)).limited("stamps_per_day")
    ;(await shop.stamps(friend, 10)).ok()
    const other = await shop.with({ preset: "full" })
    ;(await other.stamps(client, 10)).shows({ card: { balance: 35 } })
  }),
  test("limit-stamps-day (rule-limit-requests-2): The day of the stamp limit is a calendar day in the shop's time zone.", async (shop) => {
    const client = await shop.loyal()
    await toMidnight(shop.env)
    await shop.env.advance(DAY - HOUR)
    for (let i = 0; i < 2; i++) (await shop.stamps(client, 10)).ok()
    await shop.env.advance(HOUR - 1)
    ;(await shop.stamps(client, 1)).limited("stamps_per_day")
    await shop.env.advance(1)
    ;(await shop.stamps(client, 1)).ok()
  }),
  test("limit-stamps-replay (rule-limit-tickets-replay): A replay of stamps succeeds when the day's stamps are used up.", async (shop) => {
    const client = await shop.loyal()
    for (const once of ["a", "b"]) (await shop.stamps(client, 10, { once })).ok()
    for (const once of ["a", "b"]) (await shop.stamps(client, 10, { once })).withMeta({ replayed: true }).ok()
  }),
  test("limit-unauthenticated (rule-limit-unauthenticated): Each IP address has 120 requests a minute without a valid key.", async (shop) => {
    const responses = []
    for (let i = 0; i < 120; i++) responses.push((await shop.env.api("GET", "/v1/shop")).status)
    expectSame(new Set(responses), new Set([401]), "the statuses of 120 requests")
    const refused = (await shop.env.api("GET", "/v1/shop")).refused(429, "TOO_MANY_ATTEMPTS")
    expectSame(refused.error.details?.limit, "unauthenticated_per_minute", "details.limit")
    await shop.env.advance(MINUTE)
    ;(await shop.env.api("GET", "/v1/shop")).refused(401, "UNAUTHENTICATED")
  }),
  test("limit-headers (rule-limit-headers, key): Every response has the three RateLimit headers, including refusals, responses to requests without a key and responses outside the API.", async (shop) => {
    const responses = [await shop.get("/shop"), await shop.create({ service: "" }), await shop.get("/nothing-here")]
    responses.push(await shop.get(`/tickets/${UNKNOWN_ID}`), await shop.env.api("GET", "/v1/shop"))
    responses.push(await shop.env.api("GET", "/nothing-here"), await shop.create())
    for (const response of responses) {
      for (const name of ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"])
        response.withHeader(name, /^\d+$/)
    }
  }),
  test("limit-headers-scarcest (rule-limit-headers): The headers show the limit with the fewest uses left.", async (shop) => {
    ;(await shop.get("/shop")).withHeader("RateLimit-Limit", "120").withHeader("RateLimit-Remaining", "119")
    await shop.env.advance(10 * SECOND)
    const write = await shop.create()
    write
      .withHeader("RateLimit-Limit", "30")
      .withHeader("RateLimit-Remaining", "29")
      .withHeader("RateLimit-Reset", "60")
    ;(await shop.get("/shop")).withHeader("RateLimit-Remaining", "117").withHeader("RateLimit-Reset", "50")
  })
])
