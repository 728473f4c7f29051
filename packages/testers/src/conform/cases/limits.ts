import { UNKNOWN_ID } from "../../testkit/Ids.js"
import { DAY, HOUR, MINUTE, SECOND } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import type { CaseEnvironment, CaseShop } from "../CaseEnvironment.js"
import { expectSame } from "../Expectations.js"

/** Moves the clock to the next midnight in Tunis, which is one hour ahead of UTC all year. */
const advanceToMidnight = async (env: CaseEnvironment): Promise<void> => {
  const sinceMidnight_ms = (Date.parse(await env.readInstant()) + HOUR) % DAY
  await env.advance(DAY - sinceMidnight_ms)
}

const createInApp = async (shop: CaseShop, n: number) => {
  for (let i = 0; i < n; i++) (await shop.createInApp()).expectOk(201)
}

/**
 * The limits on requests, writes and tickets: the last use that each allows, and the first that it refuses
 * (Specification, Limits).
 */
export const limitCases = casesOf("§8", [
  test("limit-requests (rule-limit-requests): A key has 120 requests a minute. The next request gets a 429 until sixty seconds after the minute's first request.", async (shop) => {
    const otherKey = await shop.withKey({ preset: "full" })
    for (let i = 119; i >= 0; i--) (await shop.get("/shop")).expectHeader("RateLimit-Remaining", String(i)).expectOk()
    const refused = (await shop.get("/shop")).expectLimited("requests_per_minute")
    refused
      .expectHeader("RateLimit-Limit", "120")
      .expectHeader("RateLimit-Reset", "60")
      .expectHeader("Retry-After", "60")
    ;(await otherKey.get("/shop")).expectOk()
    await shop.env.advance(MINUTE - 1)
    // The server rounds the header up to whole seconds, so a wait of one millisecond is shown as one second. Rounded
    // down, a client would repeat its request too early.
    ;(await shop.get("/shop"))
      .expectHeader("RateLimit-Reset", "1")
      .expectHeader("Retry-After", "1")
      .expectRefusal(429, "TOO_MANY_ATTEMPTS")
    await shop.env.advance(1)
    ;(await shop.get("/shop")).expectOk()
  }),
  test("limit-requests-any-answer (rule-limit-requests): A request counts against the limit, even if its response is a refusal.", async (shop) => {
    ;(await shop.get("/shop")).expectHeader("RateLimit-Remaining", "119")
    ;(await shop.get("/nothing-here")).expectHeader("RateLimit-Remaining", "118").expectRefusal(404, "NOT_FOUND")
    ;(await shop.get("/tickets?limit=0"))
      .expectHeader("RateLimit-Remaining", "117")
      .expectRefusal(400, "VALIDATION_ERROR")
    ;(await shop.get(`/tickets/${UNKNOWN_ID}`))
      .expectHeader("RateLimit-Remaining", "116")
      .expectRefusal(404, "NOT_FOUND")
  }),
  test("limit-requests-refused (rule-limit-requests): A request that gets a 429 from another limit does not count against the key's request limit, even if only one request is left.", async (shop) => {
    const client = await shop.openLoyalClient()
    for (let i = 0; i < 2; i++) (await shop.addStamps(client, 10)).expectOk()
    for (let i = 117; i >= 1; i--) (await shop.get("/shop")).expectHeader("RateLimit-Remaining", String(i)).expectOk()
    ;(await shop.addStamps(client, 1)).expectLimited("stamps_per_day")
    ;(await shop.get("/shop")).expectHeader("RateLimit-Remaining", "0").expectOk()
    ;(await shop.get("/shop")).expectLimited("requests_per_minute")
  }),
  test("limit-writes (rule-limit-requests): A key has 30 writes a minute. When they are used up, the key can still read, and another key can still write.", async (shop) => {
    const otherKey = await shop.withKey({ preset: "full" })
    for (let i = 29; i >= 0; i--) (await shop.create()).expectHeader("RateLimit-Remaining", String(i)).expectOk(201)
    const refused = (await shop.create()).expectLimited("writes_per_minute")
    refused.expectHeader("RateLimit-Limit", "30")
    ;(await shop.get("/shop")).expectOk()
    ;(await otherKey.create()).expectOk(201)
    await shop.env.advance(MINUTE)
    ;(await shop.create()).expectOk(201)
  }),
  test("limit-writes-count (rule-limit-requests): A POST counts as a write once it has passed the checks that return 403, whether it succeeds or not.", async (shop) => {
    const reader = await shop.withKey({ preset: "read" })
    for (let i = 0; i < 31; i++) (await reader.create()).expectRefusal(403, "FORBIDDEN")
    for (let i = 0; i < 30; i++) (await shop.create({ service: "" })).expectRefusal(400, "VALIDATION_ERROR")
    ;(await shop.create()).expectLimited("writes_per_minute")
  }),
  test("limit-tickets-hour (rule-limit-tickets-hour): A shop can create 150 tickets an hour, counting those of the app and the API together.", async (shop) => {
    await createInApp(shop, 149)
    ;(await shop.create()).expectHeader("RateLimit-Limit", "150").expectHeader("RateLimit-Remaining", "0").expectOk(201)
    const refused = (await shop.create()).expectLimited("tickets_per_hour")
    refused.expectHeader("RateLimit-Reset", "3600")
    ;(await shop.createInApp()).expectLimited("tickets_per_hour")
    await shop.env.advance(HOUR)
    ;(await shop.create()).expectData({ number: 151 }, 201)
  }),
  test("limit-tickets-day (rule-limit-tickets-hour): A shop can create 600 tickets in a calendar day of its own time zone.", async (shop) => {
    await advanceToMidnight(shop.env)
    for (let hour = 0; hour < 4; hour++) {
      await createInApp(shop, 150)
      await shop.env.advance(HOUR)
    }
    const refused = (await shop.create()).expectLimited("tickets_per_day")
    refused.expectHeader("RateLimit-Limit", "600").expectHeader("RateLimit-Reset", String((20 * HOUR) / SECOND))
    await shop.env.advance(20 * HOUR - 1)
    ;(await shop.create()).expectLimited("tickets_per_day")
    await shop.env.advance(1)
    ;(await shop.create()).expectOk(201)
  }),
  test("limit-tickets-replay (rule-limit-tickets-replay): A replay succeeds when the shop has reached its ticket limit, and does not count against that limit.", async (shop) => {
    ;(await shop.create({}, { idempotencyKey: "early" })).expectOk(201)
    ;(await shop.create({}, { idempotencyKey: "early" })).expectOk(200)
    await createInApp(shop, 149)
    ;(await shop.create()).expectLimited("tickets_per_hour")
    ;(await shop.create({}, { idempotencyKey: "early" })).expectMeta({ replayed: true }).expectOk(200)
  }),
  test("limit-failed-tickets (rule-limit-tickets-hour): A request that creates no ticket does not count against the ticket limit.", async (shop) => {
    for (let i = 0; i < 5; i++) (await shop.create({ client_id: UNKNOWN_ID })).expectRefusal(404, "NOT_FOUND")
    await createInApp(shop, 149)
    ;(await shop.create()).expectOk(201)
  }),
  test("limit-lookups-hour (rule-limit-lookups-all): A shop can look up 60 phone numbers an hour, whether they are found or not, with all its keys together.", async (shop) => {
    const { phone } = await shop.openKnownClient()
    for (let i = 0; i < 30; i++) {
      ;(await shop.lookUp(phone)).expectOk()
      ;(await shop.lookUp("+4915112345678")).expectRefusal(404, "NOT_FOUND")
    }
    const refused = (await shop.lookUp(phone)).expectLimited("lookups_per_hour")
    refused.expectHeader("RateLimit-Limit", "60").expectHeader("RateLimit-Reset", "3600")
    const otherKey = await shop.withKey({ preset: "full" })
    ;(await otherKey.lookUp(phone)).expectLimited("lookups_per_hour")
    await shop.env.advance(HOUR)
    ;(await shop.lookUp(phone)).expectOk()
  }),
  test("limit-lookups-count (rule-limit-lookups-all): Only a valid look-up by phone number counts against the look-up limit.", async (shop) => {
    const { id, phone } = await shop.openKnownClient()
    ;(await shop.lookUp(phone))
      .expectHeader("RateLimit-Limit", "60")
      .expectHeader("RateLimit-Remaining", "59")
      .expectOk()
    ;(await shop.lookUp("nobody")).expectRefusal(400, "VALIDATION_ERROR")
    ;(await shop.get(`/clients/${id}`)).expectHeader("RateLimit-Limit", "120").expectOk()
    ;(await shop.get(`/tickets?phone=${encodeURIComponent(phone)}`)).expectHeader("RateLimit-Limit", "120").expectOk()
    ;(await shop.lookUp(phone)).expectHeader("RateLimit-Remaining", "58").expectOk()
  }),
  test("limit-lookups-day (rule-limit-lookups-all): A shop can look up 300 phone numbers in a calendar day of its own time zone.", async (shop) => {
    const { phone } = await shop.openKnownClient()
    await advanceToMidnight(shop.env)
    for (let hour = 0; hour < 5; hour++) {
      for (let i = 0; i < 60; i++) (await shop.lookUp(phone)).expectOk()
      await shop.env.advance(HOUR)
    }
    ;(await shop.lookUp(phone)).expectLimited("lookups_per_day")
    await shop.env.advance(19 * HOUR)
    ;(await shop.lookUp(phone)).expectOk()
  }),
  test("limit-stamps (rule-limit-stamps): A key can add twenty stamps to a client's card in a day. A request that would exceed the limit is refused completely, and one that stays within it succeeds.", async (shop) => {
    const client = await shop.openLoyalClient()
    ;(await shop.addStamps(client, 10)).expectOk()
    ;(await shop.addStamps(client, 9)).expectOk()
    ;(await shop.addStamps(client, 2)).expectLimited("stamps_per_day")
    ;(await shop.lookUp(client.phone)).expectData({ loyalty: { balance: 19 } })
    ;(await shop.addStamps(client, 1)).expectOk()
    const refused = (await shop.addStamps(client, 1)).expectLimited("stamps_per_day")
    refused.expectHeader("RateLimit-Limit", "20").expectHeader("RateLimit-Remaining", "0")
  }),
  test("limit-stamps-by (rule-limit-stamps): The limit of twenty stamps is counted separately for each client and each key, and stamps that tickets earn do not count.", async (shop) => {
    await shop.enableProgram({ stamps_per_ticket: 5 })
    const [client, friend] = [await shop.openKnownClient(), await shop.openKnownClient()]
    const { id } = await shop.createTicket({ client_id: client.id })
    ;(await shop.setStatus(id, "ready")).expectOk()
    for (let i = 0; i < 2; i++) (await shop.addStamps(client, 10)).expectOk()
    ;(await shop.addStamps(client, 1)).expectLimited("stamps_per_day")
    ;(await shop.addStamps(friend, 10)).expectOk()
    const otherKey = await shop.withKey({ preset: "full" })
    ;(await otherKey.addStamps(client, 10)).expectData({ card: { balance: 35 } })
  }),
  test("limit-stamps-day (rule-limit-requests-2): The day of the stamp limit is a calendar day in the shop's time zone.", async (shop) => {
    const client = await shop.openLoyalClient()
    await advanceToMidnight(shop.env)
    await shop.env.advance(DAY - HOUR)
    for (let i = 0; i < 2; i++) (await shop.addStamps(client, 10)).expectOk()
    await shop.env.advance(HOUR - 1)
    ;(await shop.addStamps(client, 1)).expectLimited("stamps_per_day")
    await shop.env.advance(1)
    ;(await shop.addStamps(client, 1)).expectOk()
  }),
  test("limit-stamps-replay (rule-limit-tickets-replay): A replay of stamps succeeds when the day's stamps are used up.", async (shop) => {
    const client = await shop.openLoyalClient()
    for (const idempotencyKey of ["a", "b"]) (await shop.addStamps(client, 10, { idempotencyKey })).expectOk()
    for (const idempotencyKey of ["a", "b"])
      (await shop.addStamps(client, 10, { idempotencyKey })).expectMeta({ replayed: true }).expectOk()
  }),
  test("limit-unauthenticated (rule-limit-unauthenticated): Each IP address has 120 requests a minute without a valid key.", async (shop) => {
    const responses = []
    for (let i = 0; i < 120; i++) responses.push((await shop.env.api("GET", "/v1/shop")).status)
    expectSame(new Set(responses), new Set([401]), "the statuses of 120 requests")
    const refused = (await shop.env.api("GET", "/v1/shop")).expectRefusal(429, "TOO_MANY_ATTEMPTS")
    expectSame(refused.error.details?.limit, "unauthenticated_per_minute", "details.limit")
    await shop.env.advance(MINUTE)
    ;(await shop.env.api("GET", "/v1/shop")).expectRefusal(401, "UNAUTHENTICATED")
  }),
  test("limit-headers (rule-limit-headers, key): Every response has the three RateLimit headers, including refusals, responses to requests without a key and responses outside the API.", async (shop) => {
    const responses = [await shop.get("/shop"), await shop.create({ service: "" }), await shop.get("/nothing-here")]
    responses.push(await shop.get(`/tickets/${UNKNOWN_ID}`), await shop.env.api("GET", "/v1/shop"))
    responses.push(await shop.env.api("GET", "/nothing-here"), await shop.create())
    for (const response of responses) {
      for (const name of ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"])
        response.expectHeader(name, /^\d+$/)
    }
  }),
  test("limit-headers-scarcest (rule-limit-headers): The headers show the limit with the fewest uses left.", async (shop) => {
    ;(await shop.get("/shop")).expectHeader("RateLimit-Limit", "120").expectHeader("RateLimit-Remaining", "119")
    await shop.env.advance(10 * SECOND)
    const write = await shop.create()
    write
      .expectHeader("RateLimit-Limit", "30")
      .expectHeader("RateLimit-Remaining", "29")
      .expectHeader("RateLimit-Reset", "60")
    ;(await shop.get("/shop")).expectHeader("RateLimit-Remaining", "117").expectHeader("RateLimit-Reset", "50")
  })
])
