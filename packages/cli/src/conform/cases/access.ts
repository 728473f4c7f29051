import { expectSame, expectShape } from "../Broken.js"
import { type Case, casesOf, type Row } from "../Case.js"
import { MINUTE, NOBODY } from "../World.js"

/** Every endpoint and the scope that it asks. */
const endpoints = [
  ["GET", "/tickets", "tickets:read"],
  ["GET", `/tickets/${NOBODY}`, "tickets:read"],
  ["GET", "/tickets/by-number/1", "tickets:read"],
  ["POST", "/tickets", "tickets:write"],
  ["POST", `/tickets/${NOBODY}/status`, "tickets:write"],
  ["POST", `/tickets/${NOBODY}/notified`, "tickets:write"],
  ["GET", "/clients?phone=%2B4915123456789", "clients:read"],
  ["GET", `/clients/${NOBODY}`, "clients:read"],
  ["GET", `/clients/${NOBODY}/loyalty`, "clients:read"],
  ["POST", `/clients/${NOBODY}/loyalty/stamps`, "loyalty:write"],
  ["POST", `/clients/${NOBODY}/loyalty/redeem`, "loyalty:write"]
] as const

const ALL = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]

/** Keys and their rights (Specification, Keys and scopes). */
export const accessCases: ReadonlyArray<Case> = casesOf("§5", [
  ...endpoints.map(
    ([method, path, scope]) =>
      ({
        id: `scope-${method.toLowerCase()}${path.replace(NOBODY, "id").replace(/\?.*/, "-by-phone").replaceAll("/", "-")}`,
        rule: `${method} ${path.replace(NOBODY, "{id}").replace(/\?.*/, "?phone=…")} asks for ${scope}, and for nothing else.`,
        anchor: "rule-scope-all",
        run: async (world) => {
          const shop = await world.shop()
          const without = await shop.with({ scopes: ALL.filter((other) => other !== scope) })
          const answer = await world.api(method, `/v1${path}`, { bearer: without.key })
          answer.refused(403, "FORBIDDEN", { scope })
          const only = await shop.with({ scopes: [scope] })
          const { status } = await world.api(method, `/v1${path}`, { bearer: only.key })
          expectSame(status === 401 || status === 403, false, "whether a key with this scope alone is turned away")
        }
      }) satisfies Row
  ),
  {
    id: "scope-shop",
    rule: "GET /v1/shop works with any key, and tells that key's scopes.",
    anchor: "rule-shop-record",
    run: async (world) => {
      const shop = await world.shop()
      const only = await shop.with({ scopes: ["loyalty:write"] })
      ;(await only.get("/shop")).shows({ id: shop.id, scopes: ["loyalty:write"] })
    }
  },
  {
    id: "presets",
    rule: "Full access gives all four scopes, read only those of tickets and clients.",
    anchor: "rule-presets",
    run: async (world) => {
      const shop = await world.shop()
      const scopesOf = async (preset: string) => {
        const key = await shop.with({ preset })
        return [...(await key.get<{ scopes: ReadonlyArray<string> }>("/shop")).ok().scopes].sort()
      }
      expectSame(await scopesOf("full"), [...ALL].sort(), "the scopes of full access")
      expectSame(await scopesOf("read"), ["clients:read", "tickets:read"], "the scopes of read only")
    }
  },
  {
    id: "key-missing",
    rule: "Without a key, or with one in another scheme, the answer is 401.",
    anchor: "rule-key-missing",
    needs: "key",
    run: async (world) => {
      const { key } = await world.shop()
      ;(await world.api("GET", "/v1/shop")).refused(401, "UNAUTHENTICATED")
      for (const Authorization of [key, `Basic ${key}`, "Bearer", ""]) {
        ;(await world.api("GET", "/v1/shop", { headers: { Authorization } })).refused(401, "UNAUTHENTICATED")
      }
    }
  },
  {
    id: "key-wrong",
    rule: "A key that nobody has is a 401, at any path and before anything else is looked at.",
    anchor: "rule-key-missing",
    needs: "key",
    run: async (world) => {
      const { key } = await world.shop()
      const bearer = `${key.slice(0, -4)}0000`
      ;(await world.api("GET", "/v1/shop", { bearer })).refused(401, "UNAUTHENTICATED")
      ;(await world.api("GET", "/v1/nothing-here", { bearer })).refused(401, "UNAUTHENTICATED")
      ;(await world.api("POST", "/v1/tickets", { bearer, raw: "{" })).refused(401, "UNAUTHENTICATED")
    }
  },
  {
    id: "key-format",
    rule: "A sandbox's key is wk_test_ and 43 characters; it is shown at its creation and never again.",
    anchor: "rule-key-format",
    run: async (world) => {
      const shop = await world.shop()
      expectShape(shop.key, /^wk_test_[A-Za-z0-9_-]{43}$/, "the key")
      const list = await world.sandbox("GET", `/shops/${shop.id}/keys`)
      list.ok()
      expectSame(list.exchange.answer.body.includes(shop.key), false, "whether the list of keys holds its text")
    }
  },
  {
    id: "key-revoked",
    rule: "A revoked key stops within a minute; the shop's other keys work on.",
    anchor: "rule-key-revoked",
    run: async (world) => {
      const shop = await world.shop()
      const till = await shop.with({ preset: "full" })
      ;(await till.get("/shop")).ok()
      await world.act("DELETE", `/keys/${till.key_id}`)
      await world.advance(MINUTE)
      ;(await till.get("/shop")).refused(401, "UNAUTHENTICATED")
      ;(await till.create()).refused(401, "UNAUTHENTICATED")
      ;(await shop.get("/shop")).ok()
    }
  },
  {
    id: "key-five",
    rule: "A shop has at most five active keys; a revoked one makes room.",
    anchor: "rule-key-five",
    run: async (world) => {
      const shop = await world.shop()
      const more = []
      for (let i = 0; i < 4; i++) more.push(await shop.with({ preset: "read" }))
      const another = () => world.sandbox("POST", `/shops/${shop.id}/keys`, { name: "Sixth", preset: "full" })
      ;(await another()).conflict("TOO_MANY_KEYS")
      await world.act("DELETE", `/keys/${more[0]?.key_id}`)
      expectSame((await another()).status < 300, true, "whether there is room for a key after one was revoked")
    }
  },
  {
    id: "key-of-its-shop",
    rule: "Each shop's key answers for that shop.",
    anchor: "rule-one-key-one-shop",
    run: async (world) => {
      for (const shop of [await world.shop(), await world.shop()]) {
        ;(await shop.get("/shop")).shows({ id: shop.id })
      }
    }
  }
])
