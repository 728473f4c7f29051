import { UNKNOWN_ID } from "../../testkit/Ids.js"
import { MINUTE } from "../../testkit/Time.js"
import { casesOf, test } from "../Case.js"
import { expectSame, expectShape } from "../Expectations.js"

/** Every endpoint with the scope that it requires. */
const endpoints = [
  ["GET", "/tickets", "tickets:read"],
  ["GET", `/tickets/${UNKNOWN_ID}`, "tickets:read"],
  ["GET", "/tickets/by-number/1", "tickets:read"],
  ["POST", "/tickets", "tickets:write"],
  ["POST", `/tickets/${UNKNOWN_ID}/status`, "tickets:write"],
  ["POST", `/tickets/${UNKNOWN_ID}/notified`, "tickets:write"],
  ["GET", "/clients?phone=%2B4915123456789", "clients:read"],
  ["GET", `/clients/${UNKNOWN_ID}`, "clients:read"],
  ["GET", `/clients/${UNKNOWN_ID}/loyalty`, "clients:read"],
  ["POST", `/clients/${UNKNOWN_ID}/loyalty/stamps`, "loyalty:write"],
  ["POST", `/clients/${UNKNOWN_ID}/loyalty/redeem`, "loyalty:write"]
] as const

const ALL_SCOPES = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]

/** Keys and their scopes (Specification, Keys and scopes). */
export const accessCases = casesOf("§5", [
  ...endpoints.map(([method, path, scope]) =>
    test(`scope-${method.toLowerCase()}${path.replace(UNKNOWN_ID, "id").replace(/\?.*/, "-by-phone").replaceAll("/", "-")} (rule-scope-all): ${method} ${path.replace(UNKNOWN_ID, "{id}").replace(/\?.*/, "?phone=…")} requires the scope ${scope} and no other.`, async (shop) => {
      const withoutScope = await shop.withKey({ scopes: ALL_SCOPES.filter((other) => other !== scope) })
      const response = await shop.env.api(method, `/v1${path}`, { bearer: withoutScope.key })
      response.expectRefusal(403, "FORBIDDEN", { scope })
      const onlyScope = await shop.withKey({ scopes: [scope] })
      const { status } = await shop.env.api(method, `/v1${path}`, { bearer: onlyScope.key })
      expectSame(status === 401 || status === 403, false, "whether a key with only this scope is refused")
    })
  ),
  test("scope-shop (rule-shop-record): GET /v1/shop works with any key, and returns the scopes of that key.", async (shop) => {
    const stampsKey = await shop.withKey({ scopes: ["loyalty:write"] })
    ;(await stampsKey.get("/shop")).expectData({ id: shop.id, scopes: ["loyalty:write"] })
  }),
  test("presets (rule-presets): The preset full gives all four scopes, and the preset read gives the read scopes of tickets and clients.", async (shop) => {
    const scopesOf = async (preset: string) => {
      const key = await shop.withKey({ preset })
      return [...(await key.get<{ scopes: ReadonlyArray<string> }>("/shop")).expectOk().scopes].sort()
    }
    expectSame(await scopesOf("full"), [...ALL_SCOPES].sort(), "the scopes of full access")
    expectSame(await scopesOf("read"), ["clients:read", "tickets:read"], "the scopes of read only")
  }),
  test("key-missing (rule-key-missing, key): A request without a key, or with a key in another authentication scheme, is a 401.", async (shop) => {
    const { key } = shop
    ;(await shop.env.api("GET", "/v1/shop")).expectRefusal(401, "UNAUTHENTICATED")
    for (const Authorization of [key, `Basic ${key}`, "Bearer", ""])
      (await shop.env.api("GET", "/v1/shop", { headers: { Authorization } })).expectRefusal(401, "UNAUTHENTICATED")
  }),
  test("key-wrong (rule-key-missing, key): An unknown key is a 401 at any path, before any other check.", async (shop) => {
    const { key } = shop
    const bearer = `${key.slice(0, -4)}0000`
    ;(await shop.env.api("GET", "/v1/shop", { bearer })).expectRefusal(401, "UNAUTHENTICATED")
    ;(await shop.env.api("GET", "/v1/nothing-here", { bearer })).expectRefusal(401, "UNAUTHENTICATED")
    ;(await shop.env.api("POST", "/v1/tickets", { bearer, raw: "{" })).expectRefusal(401, "UNAUTHENTICATED")
  }),
  test("key-format (rule-key-format): A sandbox's key is wk_test_ followed by 43 characters, and is shown only when it is created.", async (shop) => {
    expectShape(shop.key, /^wk_test_[A-Za-z0-9_-]{43}$/, "the key")
    const list = await shop.env.sandbox("list keys", shop.id)
    list.expectOk()
    expectSame(
      list.exchange.response.body.includes(shop.key),
      false,
      "whether the list of keys contains the key's text"
    )
  }),
  test("key-revoked (rule-key-revoked): A revoked key stops working within a minute, and the shop's other keys keep working.", async (shop) => {
    const till = await shop.withKey({ preset: "full" })
    ;(await till.get("/shop")).expectOk()
    await shop.env.callSandbox("revoke key", till.key_id)
    await shop.env.advance(MINUTE)
    ;(await till.get("/shop")).expectRefusal(401, "UNAUTHENTICATED")
    ;(await till.create()).expectRefusal(401, "UNAUTHENTICATED")
    ;(await shop.get("/shop")).expectOk()
  }),
  test("key-five (rule-key-five): A shop has at most five active keys, and revoking one allows a new one.", async (shop) => {
    const requests = []
    for (let i = 0; i < 4; i++) requests.push(await shop.withKey({ preset: "read" }))
    const createSixthKey = () => shop.env.sandbox("create key", shop.id, { name: "Sixth", preset: "full" })
    ;(await createSixthKey()).expectConflict("TOO_MANY_KEYS")
    await shop.env.callSandbox("revoke key", requests[0]?.key_id)
    expectSame((await createSixthKey()).status < 300, true, "whether a key can be created after another was revoked")
  }),
  test("key-of-its-shop (rule-one-key-one-shop): The key of each shop reads that shop.", async (shop) => {
    for (const shopOfKey of [shop, await shop.env.openShop()])
      (await shopOfKey.get("/shop")).expectData({ id: shopOfKey.id })
  })
])
