import { expectSame } from "../Broken.js"
import { casesOf } from "../Case.js"
import type { Shop } from "../Shop.js"
import { DAY, HOUR, MINUTE, NOBODY, SECOND, type World } from "../World.js"

/** Moves the clock to the next midnight of Tunis, one hour ahead of UTC all year round. */
const toMidnight = async (world: World): Promise<void> => {
  const past = (Date.parse(await world.instant()) + HOUR) % DAY
  await world.advance(DAY - past)
}

const many = async (shop: Shop, n: number) => {
  for (let i = 0; i < n; i++) (await shop.app()).ok(201)
}

/** Requests, writes, tickets: each limit at its edge and one past it (Specification, Limits). */
export const limitCases = casesOf("§8", [
  {
    id: "limit-requests",
    rule: "A key has 120 requests a minute; the next is a 429, and the minute is over sixty seconds after its first use.",
    anchor: "rule-limit-requests",
    run: async (world) => {
      const shop = await world.shop()
      const other = await shop.with({ preset: "full" })
      for (let i = 119; i >= 0; i--) (await shop.get("/shop")).withHeader("RateLimit-Remaining", String(i)).ok()
      const refused = (await shop.get("/shop")).refused(429, "TOO_MANY_ATTEMPTS", { limit: "requests_per_minute" })
      refused.withHeader("RateLimit-Limit", "120").withHeader("RateLimit-Reset", "60").withHeader("Retry-After", "60")
      ;(await other.get("/shop")).ok()
      await world.advance(MINUTE - 1)
      ;(await shop.get("/shop")).refused(429, "TOO_MANY_ATTEMPTS")
      await world.advance(1)
      ;(await shop.get("/shop")).ok()
    }
  },
  {
    id: "limit-requests-any-answer",
    rule: "A request counts whatever its answer.",
    anchor: "rule-limit-requests",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.get("/shop")).withHeader("RateLimit-Remaining", "119")
      ;(await shop.get("/nothing-here")).withHeader("RateLimit-Remaining", "118").refused(404, "NOT_FOUND")
      ;(await shop.get("/tickets?limit=0")).withHeader("RateLimit-Remaining", "117").refused(400, "VALIDATION_ERROR")
      ;(await shop.get(`/tickets/${NOBODY}`)).withHeader("RateLimit-Remaining", "116").refused(404, "NOT_FOUND")
    }
  },
  {
    id: "limit-writes",
    rule: "A key has 30 writes a minute; past them it can still read, and another key can write.",
    anchor: "rule-limit-requests",
    run: async (world) => {
      const shop = await world.shop()
      const other = await shop.with({ preset: "full" })
      for (let i = 29; i >= 0; i--) (await shop.create()).withHeader("RateLimit-Remaining", String(i)).ok(201)
      const refused = (await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "writes_per_minute" })
      refused.withHeader("RateLimit-Limit", "30")
      ;(await shop.get("/shop")).ok()
      ;(await other.create()).ok(201)
      await world.advance(MINUTE)
      ;(await shop.create()).ok(201)
    }
  },
  {
    id: "limit-writes-count",
    rule: "A POST counts as a write once it has passed its 403, whether it succeeds or not.",
    anchor: "rule-limit-requests",
    run: async (world) => {
      const shop = await world.shop()
      const reader = await shop.with({ preset: "read" })
      for (let i = 0; i < 31; i++) (await reader.create()).refused(403, "FORBIDDEN")
      for (let i = 0; i < 30; i++) (await shop.create({ service: "" })).refused(400, "VALIDATION_ERROR")
      ;(await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "writes_per_minute" })
    }
  },
  {
    id: "limit-tickets-hour",
    rule: "A shop makes 150 tickets an hour, app and API together.",
    anchor: "rule-limit-tickets-hour",
    run: async (world) => {
      const shop = await world.shop()
      await many(shop, 149)
      ;(await shop.create()).withHeader("RateLimit-Limit", "150").withHeader("RateLimit-Remaining", "0").ok(201)
      const refused = (await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "tickets_per_hour" })
      refused.withHeader("RateLimit-Reset", "3600")
      ;(await shop.app()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "tickets_per_hour" })
      await world.advance(HOUR)
      ;(await shop.create()).shows({ number: 151 }, 201)
    }
  },
  {
    id: "limit-tickets-day",
    rule: "A shop makes 600 tickets a day of its own calendar.",
    anchor: "rule-limit-tickets-hour",
    run: async (world) => {
      const shop = await world.shop({ time_zone: "Africa/Tunis" })
      await toMidnight(world)
      for (let hour = 0; hour < 4; hour++) {
        await many(shop, 150)
        await world.advance(HOUR)
      }
      const refused = (await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "tickets_per_day" })
      refused.withHeader("RateLimit-Limit", "600").withHeader("RateLimit-Reset", String((20 * HOUR) / SECOND))
      await world.advance(20 * HOUR - 1)
      ;(await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "tickets_per_day" })
      await world.advance(1)
      ;(await shop.create()).ok(201)
    }
  },
  {
    id: "limit-tickets-replay",
    rule: "A replay succeeds while the tickets are used up, and counts against none.",
    anchor: "rule-limit-tickets-replay",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.create({}, { once: "early" })).ok(201)
      ;(await shop.create({}, { once: "early" })).ok(200)
      await many(shop, 149)
      ;(await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "tickets_per_hour" })
      ;(await shop.create({}, { once: "early" })).withMeta({ replayed: true }).ok(200)
    }
  },
  {
    id: "limit-failed-tickets",
    rule: "A ticket that was not made does not count.",
    anchor: "rule-limit-tickets-hour",
    run: async (world) => {
      const shop = await world.shop()
      for (let i = 0; i < 5; i++) (await shop.create({ client_id: NOBODY })).refused(404, "NOT_FOUND")
      await many(shop, 149)
      ;(await shop.create()).ok(201)
    }
  },
  {
    id: "limit-lookups-hour",
    rule: "A shop looks up 60 numbers an hour, found or not, whichever key asks.",
    anchor: "rule-limit-lookups-all",
    run: async (world) => {
      const shop = await world.shop()
      const { phone } = await shop.known()
      for (let i = 0; i < 30; i++) {
        ;(await shop.lookUp(phone)).ok()
        ;(await shop.lookUp("+4915112345678")).refused(404, "NOT_FOUND")
      }
      const refused = (await shop.lookUp(phone)).refused(429, "TOO_MANY_ATTEMPTS", { limit: "lookups_per_hour" })
      refused.withHeader("RateLimit-Limit", "60").withHeader("RateLimit-Reset", "3600")
      const other = await shop.with({ preset: "full" })
      ;(await other.lookUp(phone)).refused(429, "TOO_MANY_ATTEMPTS", { limit: "lookups_per_hour" })
      await world.advance(HOUR)
      ;(await shop.lookUp(phone)).ok()
    }
  },
  {
    id: "limit-lookups-count",
    rule: "A look-up counts when it is well formed, and no other request does.",
    anchor: "rule-limit-lookups-all",
    run: async (world) => {
      const shop = await world.shop()
      const { id, phone } = await shop.known()
      ;(await shop.lookUp(phone)).withHeader("RateLimit-Limit", "60").withHeader("RateLimit-Remaining", "59").ok()
      ;(await shop.lookUp("nobody")).refused(400, "VALIDATION_ERROR")
      ;(await shop.get(`/clients/${id}`)).withHeader("RateLimit-Limit", "120").ok()
      ;(await shop.get(`/tickets?phone=${encodeURIComponent(phone)}`)).withHeader("RateLimit-Limit", "120").ok()
      ;(await shop.lookUp(phone)).withHeader("RateLimit-Remaining", "58").ok()
    }
  },
  {
    id: "limit-lookups-day",
    rule: "A shop looks up 300 numbers a day of its own calendar.",
    anchor: "rule-limit-lookups-all",
    run: async (world) => {
      const shop = await world.shop({ time_zone: "Africa/Tunis" })
      const { phone } = await shop.known()
      await toMidnight(world)
      for (let hour = 0; hour < 5; hour++) {
        for (let i = 0; i < 60; i++) (await shop.lookUp(phone)).ok()
        await world.advance(HOUR)
      }
      ;(await shop.lookUp(phone)).refused(429, "TOO_MANY_ATTEMPTS", { limit: "lookups_per_day" })
      await world.advance(19 * HOUR)
      ;(await shop.lookUp(phone)).ok()
    }
  },
  {
    id: "limit-stamps",
    rule: "Twenty stamps a client, day and key: what would pass them is refused whole, what does not is given.",
    anchor: "rule-limit-stamps",
    run: async (world) => {
      const shop = await (await world.shop()).program()
      const client = await shop.known()
      ;(await shop.stamps(client, 10)).ok()
      ;(await shop.stamps(client, 9)).ok()
      ;(await shop.stamps(client, 2)).refused(429, "TOO_MANY_ATTEMPTS", { limit: "stamps_per_day" })
      ;(await shop.lookUp(client.phone)).shows({ loyalty: { balance: 19 } })
      ;(await shop.stamps(client, 1)).ok()
      const refused = (await shop.stamps(client, 1)).refused(429, "TOO_MANY_ATTEMPTS", { limit: "stamps_per_day" })
      refused.withHeader("RateLimit-Limit", "20").withHeader("RateLimit-Remaining", "0")
    }
  },
  {
    id: "limit-stamps-by",
    rule: "Another client and another key have twenty of their own, and stamps that tickets earn do not count.",
    anchor: "rule-limit-stamps",
    run: async (world) => {
      const shop = await (await world.shop()).program({ stamps_per_ticket: 5 })
      const [client, friend] = [await shop.known(), await shop.known()]
      const { id } = await shop.ticket({ client_id: client.id })
      ;(await shop.status(id, "ready")).ok()
      for (let i = 0; i < 2; i++) (await shop.stamps(client, 10)).ok()
      ;(await shop.stamps(client, 1)).refused(429, "TOO_MANY_ATTEMPTS", { limit: "stamps_per_day" })
      ;(await shop.stamps(friend, 10)).ok()
      const other = await shop.with({ preset: "full" })
      ;(await other.stamps(client, 10)).shows({ card: { balance: 35 } })
    }
  },
  {
    id: "limit-stamps-day",
    rule: "The day of the stamps is the shop's own calendar day.",
    anchor: "rule-limit-requests-2",
    run: async (world) => {
      const shop = await (await world.shop({ time_zone: "Africa/Tunis" })).program()
      const client = await shop.known()
      await toMidnight(world)
      await world.advance(DAY - HOUR)
      for (let i = 0; i < 2; i++) (await shop.stamps(client, 10)).ok()
      await world.advance(HOUR - 1)
      ;(await shop.stamps(client, 1)).refused(429, "TOO_MANY_ATTEMPTS", { limit: "stamps_per_day" })
      await world.advance(1)
      ;(await shop.stamps(client, 1)).ok()
    }
  },
  {
    id: "limit-stamps-replay",
    rule: "A replay of stamps succeeds while the day's are used up.",
    anchor: "rule-limit-tickets-replay",
    run: async (world) => {
      const shop = await (await world.shop()).program()
      const client = await shop.known()
      for (const once of ["a", "b"]) (await shop.stamps(client, 10, { once })).ok()
      for (const once of ["a", "b"]) (await shop.stamps(client, 10, { once })).withMeta({ replayed: true }).ok()
    }
  },
  {
    id: "limit-unauthenticated",
    rule: "Requests without a good key are counted by their address, 120 a minute.",
    anchor: "rule-limit-unauthenticated",
    run: async (world) => {
      const answers = []
      for (let i = 0; i < 120; i++) answers.push((await world.api("GET", "/v1/shop")).status)
      expectSame(new Set(answers), new Set([401]), "the statuses of 120 requests")
      const refused = (await world.api("GET", "/v1/shop")).refused(429, "TOO_MANY_ATTEMPTS")
      expectSame(refused.error.details?.limit, "unauthenticated_per_minute", "details.limit")
      await world.advance(MINUTE)
      ;(await world.api("GET", "/v1/shop")).refused(401, "UNAUTHENTICATED")
    }
  },
  {
    id: "limit-headers",
    rule: "Every answer bears the three headers: a success, a refusal, one without a key, one outside the API.",
    anchor: "rule-limit-headers",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const answers = [await shop.get("/shop"), await shop.create({ service: "" }), await shop.get("/nothing-here")]
      answers.push(await shop.get(`/tickets/${NOBODY}`), await world.api("GET", "/v1/shop"))
      answers.push(await world.api("GET", "/nothing-here"), await shop.create())
      for (const answer of answers) {
        for (const name of ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"])
          answer.withHeader(name, /^\d+$/)
      }
    }
  },
  {
    id: "limit-headers-scarcest",
    rule: "The headers tell of the limit with the fewest uses left.",
    anchor: "rule-limit-headers",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.get("/shop")).withHeader("RateLimit-Limit", "120").withHeader("RateLimit-Remaining", "119")
      await world.advance(10 * SECOND)
      const write = await shop.create()
      write
        .withHeader("RateLimit-Limit", "30")
        .withHeader("RateLimit-Remaining", "29")
        .withHeader("RateLimit-Reset", "60")
      ;(await shop.get("/shop")).withHeader("RateLimit-Remaining", "117").withHeader("RateLimit-Reset", "50")
    }
  }
])
