import { UNKNOWN_ID } from "../../testkit/Ids.js"
import { MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectThat } from "../Expectations.js"

/** Codes, reasons and the order in which they are found (Specification, Errors). */
export const errorCases = casesOf("§7", [
  test("error-validation (rule-create-every-problem, key): A 400 lists every problem with its part of the request, its field and a message.", async (shop) => {
    const response = (await shop.create({ service: "" })).expectInvalid("body service")
    const issues = response.error.details?.issues as ReadonlyArray<{ message?: unknown }>
    expectThat(
      issues.every(({ message }) => typeof message === "string" && message !== ""),
      "a message each",
      issues
    )
  }),
  test("error-shop-not-approved (rule-error-shop-not-approved): A request with the key of a shop that is not approved yet returns SHOP_NOT_APPROVED.", async (shop) => {
    await shop.changeSettings({ approved: false })
    ;(await shop.get("/shop")).expectRefusal(403, "SHOP_NOT_APPROVED")
    ;(await shop.create()).expectRefusal(403, "SHOP_NOT_APPROVED")
  }),
  test("error-account-deactivated (rule-error-shop-not-approved): A request with the key of a deactivated shop returns ACCOUNT_DEACTIVATED.", async (shop) => {
    await shop.changeSettings({ active: false })
    ;(await shop.get("/shop")).expectRefusal(403, "ACCOUNT_DEACTIVATED")
  }),
  test("error-order-of-403 (rule-error-order-of-403): If a request has several reasons for a 403, the deactivated account is reported first, then the missing approval, then the disabled API.", async (shop) => {
    await shop.changeSettings({ active: false, approved: false, api_enabled: false })
    ;(await shop.get("/shop")).expectRefusal(403, "ACCOUNT_DEACTIVATED")
    await shop.changeSettings({ active: true })
    ;(await shop.get("/shop")).expectRefusal(403, "SHOP_NOT_APPROVED")
    await shop.changeSettings({ approved: true })
    ;(await shop.get("/nothing-here")).expectRefusal(403, "API_DISABLED")
    await shop.changeSettings({ api_enabled: true })
    ;(await shop.get("/shop")).expectOk()
  }),
  test("error-limit-before-403 (rule-error-order-of-403): The request limit is checked before the state of the shop.", async (shop) => {
    await shop.changeSettings({ api_enabled: false })
    for (let i = 0; i < 120; i++) (await shop.get("/shop")).expectRefusal(403, "API_DISABLED")
    ;(await shop.get("/shop")).expectLimited("requests_per_minute")
  }),
  test("error-route-before-scope (rule-envelope-method-all): An unknown path is a 404 even for a key without scopes, and a missing scope is reported before an invalid body.", async (shop) => {
    const reader = await shop.withKey({ scopes: ["clients:read"] })
    ;(await reader.post("/nothing-here", {})).expectRefusal(404, "NOT_FOUND")
    ;(await reader.create({ service: "" }, { idempotencyKey: undefined })).expectRefusal(403, "FORBIDDEN", {
      scope: "tickets:write"
    })
  }),
  test("error-400-before-replay (rule-error-order-of-403, key): An invalid body is a 400 even with an Idempotency-Key that was used before.", async (shop) => {
    const idempotencyKey = shop.env.uniqueText("order")
    ;(await shop.create({}, { idempotencyKey })).expectOk(201)
    ;(await shop.create({ price_minor: -1 }, { idempotencyKey })).expectInvalid("body price_minor")
  }),
  test("error-404-before-422 (rule-error-order-of-403): An unknown client is reported before a forbidden word, and an invalid body before both.", async (shop) => {
    await shop.changeSettings({ forbidden_words: ["grumblefluff"] })
    ;(await shop.create({ service: "grumblefluff", client_id: UNKNOWN_ID })).expectRefusal(404, "NOT_FOUND")
    ;(await shop.create({ service: "grumblefluff", price_minor: -1 })).expectInvalid("body price_minor")
  }),
  test("error-422-before-limit (rule-error-order-of-403): A forbidden word is reported before the ticket limit.", async (shop) => {
    await shop.changeSettings({ forbidden_words: ["grumblefluff"] })
    for (let i = 0; i < 150; i++) (await shop.createInApp()).expectOk(201)
    ;(await shop.create({ service: "grumblefluff" })).expectRefusal(422, "PROFANITY")
    ;(await shop.create()).expectLimited("tickets_per_hour")
  }),
  test("error-409-ticket-404 (rule-read-ticket, key): A change of status for an unknown ticket is a 404, but an unknown status is a 400 even there.", async (shop) => {
    ;(await shop.setStatus(UNKNOWN_ID, "ready")).expectRefusal(404, "NOT_FOUND")
    ;(await shop.recordNotified(UNKNOWN_ID)).expectRefusal(404, "NOT_FOUND")
    ;(await shop.setStatus(UNKNOWN_ID, "lost")).expectInvalid("body status")
  }),
  test("error-profanity (rule-error-profanity): A forbidden word in any text of a ticket is a 422 that names the field.", async (shop) => {
    await shop.changeSettings({ forbidden_words: ["grumblefluff"] })
    const rudeText = "A GrumbleFluff, please"
    const makeItems = (item: object) => ({ items: [{ label: "Fine" }, { label: "Fine", ...item }] })
    for (const [field, body] of [
      ["service", { service: rudeText }],
      ["item", { item: rudeText }],
      ["description", { description: rudeText }],
      ["items.1.label", makeItems({ label: rudeText })],
      ["items.1.service", makeItems({ service: rudeText })]
    ] as const) {
      ;(await shop.create(body)).expectRefusal(422, "PROFANITY", { field })
    }
  }),
  test("error-profanity-whole-words (rule-error-profanity): A forbidden word inside a longer word is accepted.", async (shop) => {
    await shop.changeSettings({ forbidden_words: ["grum"] })
    ;(await shop.create({ service: "Grumbling boots" })).expectOk(201)
    ;(await shop.create({ service: "Boots (GRUM)" })).expectRefusal(422, "PROFANITY", { field: "service" })
  }),
  test("error-forbidden-scope (rule-scope-all): A missing scope is a FORBIDDEN with that scope in its details.", async (shop) => {
    const reader = await shop.withKey({ preset: "read" })
    ;(await reader.create()).expectRefusal(403, "FORBIDDEN", { scope: "tickets:write" })
  }),
  test("error-no-internals (rule-error-no-internals, key): No response contains internals of the service.", async (shop) => {
    const paths = ["/tickets/%00", "/tickets/'%20OR%201=1", "/tickets?cursor=%27", "/clients/%F0%9F%A7%B5"]
    for (const path of paths) {
      const response = await shop.get(path)
      expectThat(
        response.status === 400 || response.status === 404,
        "status 400 or 404",
        response.status,
        response.exchange
      )
      const leaks = /\bat [^\n]{1,200}:\d{1,9}:\d{1,9}|select |syntax error|\.ts\b|\.js\b/i.test(
        response.exchange.response.body
      )
      expectSame(leaks, false, "whether the body contains code or SQL", response.exchange)
    }
  }),
  test("error-request-id (rule-error-request-id, key): Every response has its own Request-Id.", async (shop) => {
    const responses = [await shop.get("/shop"), await shop.get("/nothing"), await shop.env.api("GET", "/v1/shop")]
    responses.push(await shop.create({ service: "" }), await shop.env.api("GET", "/nothing"))
    for (const response of responses) response.expectHeader("Request-Id", /./)
    const ids = new Set(responses.map((response) => response.header("request-id")))
    expectSame(ids.size, responses.length, "the number of different ids")
  }),
  test("error-retry-after (rule-error-retry-after): A 429 says in RateLimit-Reset and in Retry-After how long to wait, with the same value.", async (shop) => {
    for (let i = 0; i < 30; i++) (await shop.setStatus(UNKNOWN_ID, "ready")).expectRefusal(404, "NOT_FOUND")
    await shop.env.advance(MINUTE / 4)
    const response = (await shop.create()).expectLimited("writes_per_minute")
    response
      .expectHeader("RateLimit-Reset", "45")
      .expectHeader("Retry-After", "45")
      .expectHeader("RateLimit-Remaining", "0")
    await shop.env.advance(45_000)
    ;(await shop.create()).expectOk(201)
  })
])
