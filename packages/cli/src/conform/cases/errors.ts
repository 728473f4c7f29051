import { expectSame, expectThat } from "../Broken.js"
import { casesOf } from "../Case.js"
import { MINUTE, NOBODY } from "../World.js"

/** Codes, reasons and the order in which they are found (Specification, Errors). */
export const errorCases = casesOf("§7", [
  {
    id: "error-validation",
    rule: "A 400 lists what is wrong, each with its part of the request, its field and a message.",
    anchor: "rule-create-every-problem",
    needs: "key",
    run: async (world) => {
      const answer = (await (await world.shop()).create({ service: "" })).invalid("body service")
      const issues = answer.error.details?.issues as ReadonlyArray<{ message?: unknown }>
      expectThat(
        issues.every(({ message }) => typeof message === "string" && message !== ""),
        "a message each",
        issues
      )
    }
  },
  {
    id: "error-shop-not-approved",
    rule: "The keys of a shop that is not approved yet answer SHOP_NOT_APPROVED.",
    anchor: "rule-error-shop-not-approved",
    run: async (world) => {
      const shop = await (await world.shop()).set({ approved: false })
      ;(await shop.get("/shop")).refused(403, "SHOP_NOT_APPROVED")
      ;(await shop.create()).refused(403, "SHOP_NOT_APPROVED")
    }
  },
  {
    id: "error-account-deactivated",
    rule: "The keys of a deactivated shop answer ACCOUNT_DEACTIVATED.",
    anchor: "rule-error-shop-not-approved",
    run: async (world) => {
      const shop = await (await world.shop()).set({ active: false })
      ;(await shop.get("/shop")).refused(403, "ACCOUNT_DEACTIVATED")
    }
  },
  {
    id: "error-order-of-403",
    rule: "Of several causes the deactivated account is told first, then the approval, then the API.",
    anchor: "rule-error-order-of-403",
    run: async (world) => {
      const shop = await (await world.shop()).set({ active: false, approved: false, api_enabled: false })
      ;(await shop.get("/shop")).refused(403, "ACCOUNT_DEACTIVATED")
      await shop.set({ active: true })
      ;(await shop.get("/shop")).refused(403, "SHOP_NOT_APPROVED")
      await shop.set({ approved: true })
      ;(await shop.get("/nothing-here")).refused(403, "API_DISABLED")
      await shop.set({ api_enabled: true })
      ;(await shop.get("/shop")).ok()
    }
  },
  {
    id: "error-limit-before-403",
    rule: "The limit on requests is looked at before the shop's own state.",
    anchor: "rule-error-order-of-403",
    run: async (world) => {
      const shop = await (await world.shop()).set({ api_enabled: false })
      for (let i = 0; i < 120; i++) (await shop.get("/shop")).refused(403, "API_DISABLED")
      ;(await shop.get("/shop")).refused(429, "TOO_MANY_ATTEMPTS", { limit: "requests_per_minute" })
    }
  },
  {
    id: "error-route-before-scope",
    rule: "An unknown path is a 404 also to a key without rights, and a missing right is told before a wrong body.",
    anchor: "rule-envelope-method-all",
    run: async (world) => {
      const reader = await (await world.shop()).with({ scopes: ["clients:read"] })
      ;(await reader.post("/nothing-here", {})).refused(404, "NOT_FOUND")
      ;(await reader.create({ service: "" }, { once: undefined })).refused(403, "FORBIDDEN", { scope: "tickets:write" })
    }
  },
  {
    id: "error-400-before-replay",
    rule: "A wrong body is a 400 also under a key that was used.",
    anchor: "rule-error-order-of-403",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const once = world.fresh("order")
      ;(await shop.create({}, { once })).ok(201)
      ;(await shop.create({ price_minor: -1 }, { once })).invalid("body price_minor")
    }
  },
  {
    id: "error-404-before-422",
    rule: "An unknown client is told before a forbidden word, and a wrong body before both.",
    anchor: "rule-error-order-of-403",
    run: async (world) => {
      const shop = await (await world.shop()).set({ forbidden_words: ["grumblefluff"] })
      ;(await shop.create({ service: "grumblefluff", client_id: NOBODY })).refused(404, "NOT_FOUND")
      ;(await shop.create({ service: "grumblefluff", price_minor: -1 })).invalid("body price_minor")
    }
  },
  {
    id: "error-422-before-limit",
    rule: "A forbidden word is told before the tickets' limit.",
    anchor: "rule-error-order-of-403",
    run: async (world) => {
      const shop = await (await world.shop()).set({ forbidden_words: ["grumblefluff"] })
      for (let i = 0; i < 150; i++) (await shop.app()).ok(201)
      ;(await shop.create({ service: "grumblefluff" })).refused(422, "PROFANITY")
      ;(await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "tickets_per_hour" })
    }
  },
  {
    id: "error-409-ticket-404",
    rule: "A status for a ticket that is not there is a 404, a wrong status a 400 before it.",
    anchor: "rule-read-ticket",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      ;(await shop.status(NOBODY, "ready")).refused(404, "NOT_FOUND")
      ;(await shop.notified(NOBODY)).refused(404, "NOT_FOUND")
      ;(await shop.status(NOBODY, "lost")).invalid("body status")
    }
  },
  {
    id: "error-profanity",
    rule: "A forbidden word in any text of a ticket is a 422 that names the field.",
    anchor: "rule-error-profanity",
    run: async (world) => {
      const shop = await (await world.shop()).set({ forbidden_words: ["grumblefluff"] })
      const bad = "A GrumbleFluff, please"
      const items = (item: object) => ({ items: [{ label: "Fine" }, { label: "Fine", ...item }] })
      for (const [field, body] of [
        ["service", { service: bad }],
        ["item", { item: bad }],
        ["description", { description: bad }],
        ["items.1.label", items({ label: bad })],
        ["items.1.service", items({ service: bad })]
      ] as const) {
        ;(await shop.create(body)).refused(422, "PROFANITY", { field })
      }
    }
  },
  {
    id: "error-profanity-whole-words",
    rule: "A forbidden word inside another word is none.",
    anchor: "rule-error-profanity",
    run: async (world) => {
      const shop = await (await world.shop()).set({ forbidden_words: ["grum"] })
      ;(await shop.create({ service: "Grumbling boots" })).ok(201)
      ;(await shop.create({ service: "Boots (GRUM)" })).refused(422, "PROFANITY", { field: "service" })
    }
  },
  {
    id: "error-forbidden-scope",
    rule: "A missing right is FORBIDDEN with the scope in its details.",
    anchor: "rule-scope-all",
    run: async (world) => {
      const reader = await (await world.shop()).with({ preset: "read" })
      ;(await reader.create()).refused(403, "FORBIDDEN", { scope: "tickets:write" })
    }
  },
  {
    id: "error-no-internals",
    rule: "No answer tells of the inside of the service.",
    anchor: "rule-error-no-internals",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const asked = ["/tickets/%00", "/tickets/'%20OR%201=1", "/tickets?cursor=%27", "/clients/%F0%9F%A7%B5"]
      for (const path of asked) {
        const answer = await shop.get(path)
        expectThat(answer.status === 400 || answer.status === 404, "status 400 or 404", answer.status, answer.exchange)
        const told = /\bat [^\n]{1,200}:\d{1,9}:\d{1,9}|select |syntax error|\.ts\b|\.js\b/i.test(
          answer.exchange.answer.body
        )
        expectSame(told, false, "whether the body tells of code or SQL", answer.exchange)
      }
    }
  },
  {
    id: "error-request-id",
    rule: "Every answer bears a Request-Id of its own.",
    anchor: "rule-error-request-id",
    needs: "key",
    run: async (world) => {
      const shop = await world.shop()
      const answers = [await shop.get("/shop"), await shop.get("/nothing"), await world.api("GET", "/v1/shop")]
      answers.push(await shop.create({ service: "" }), await world.api("GET", "/nothing"))
      for (const answer of answers) answer.withHeader("Request-Id", /./)
      const ids = new Set(answers.map((answer) => answer.header("request-id")))
      expectSame(ids.size, answers.length, "the number of different ids")
    }
  },
  {
    id: "error-retry-after",
    rule: "A 429 tells how long to wait, in RateLimit-Reset and Retry-After alike.",
    anchor: "rule-error-retry-after",
    run: async (world) => {
      const shop = await world.shop()
      for (let i = 0; i < 30; i++) (await shop.status(NOBODY, "ready")).refused(404, "NOT_FOUND")
      await world.advance(MINUTE / 4)
      const answer = (await shop.create()).refused(429, "TOO_MANY_ATTEMPTS", { limit: "writes_per_minute" })
      answer.withHeader("RateLimit-Reset", "45").withHeader("Retry-After", "45").withHeader("RateLimit-Remaining", "0")
      await world.advance(45_000)
      ;(await shop.create()).ok(201)
    }
  }
])
