import { answers, type BrokenServer, instead, requests, ticketsIn } from "./Broken.js"

const isCreate = (method: string, path: string) => method === "POST" && path === "/v1/tickets"
const isList = (method: string, path: string) => method === "GET" && path === "/v1/tickets"

/** Servers that read requests or write answers wrong. */
export const brokenResponses: ReadonlyArray<BrokenServer> = [
  {
    does: "responds to a replay with 201",
    caughtBy: ["replay", "replay-no-duplicate"],
    fault: () =>
      answers((seen, { method, path }) => {
        if (isCreate(method, path) && seen.body?.meta?.replayed === true) seen.status = 201
      })
  },
  {
    does: "does not say in meta that a response is a replay",
    caughtBy: ["replay"],
    fault: () =>
      answers((seen) => {
        if (seen.body?.meta?.replayed !== undefined) delete seen.body.meta.replayed
      })
  },
  {
    does: "does not say in a header that a response is a replay",
    caughtBy: ["replay"],
    fault: () => answers((seen) => seen.headers.delete("Idempotent-Replayed"))
  },
  {
    does: "accepts a used Idempotency-Key with any body",
    caughtBy: ["idempotency-reused"],
    fault: () => {
      const first = new Map<string, unknown>()
      return requests((asked) => {
        const once = asked.headers["idempotency-key"]
        if (!isCreate(asked.method, asked.path) || once === undefined) return
        const key = `${asked.headers.authorization} ${once}`
        asked.body = first.get(key) ?? asked.body
        first.set(key, asked.body)
      })
    }
  },
  {
    does: "reveals by a header that a client blocks the shop",
    caughtBy: ["privacy-look-up"],
    fault: () => {
      const phones = new Set<string>()
      return answers((seen, { path, body, query }) => {
        if (path === "/sandbox/clients") phones.add(body.phone)
        if (seen.status === 404 && phones.has(query.get("phone") ?? "")) seen.headers.set("X-Blocked", "1")
      })
    }
  },
  {
    does: "reveals by its message that a client blocks the shop",
    caughtBy: ["privacy-by-id", "privacy-loyalty", "privacy-stamps"],
    fault: () => {
      const ids = new Set<string>()
      return answers((seen, { path }) => {
        if (path === "/sandbox/clients") ids.add(seen.body.data.id)
        const id = path.split("/")[3] ?? ""
        if (seen.status === 404 && ids.has(id)) seen.body.error.message = "This client does not want to be found"
      })
    }
  },
  {
    does: "does not say how long to wait",
    caughtBy: ["error-retry-after", "limit-requests"],
    fault: () => answers((seen) => seen.headers.delete("Retry-After"))
  },
  {
    does: "loses a row at the start of each further page",
    caughtBy: ["list-pages"],
    fault: () =>
      answers((seen, { method, path, query }) => {
        if (isList(method, path) && query.has("cursor")) seen.body?.data?.shift()
      })
  },
  {
    does: "takes a page to be the last one always",
    caughtBy: ["list-pages", "list-default-page"],
    fault: () =>
      answers((seen, { method, path }) => {
        if (isList(method, path) && seen.body?.meta) seen.body.meta.has_more = false
      })
  },
  {
    does: "goes on after the last instant of a page and not after its last row",
    caughtBy: ["sync-equal-instants", "sync-while-writing"],
    fault: () => {
      let last = ""
      return answers((seen, { query }) => {
        if (!query.has("updated_since") || !Array.isArray(seen.body?.data)) return
        if (query.has("cursor"))
          seen.body.data = seen.body.data.filter((it: { updated_at: string }) => it.updated_at > last)
        last = seen.body.data.at(-1)?.updated_at ?? last
      })
    }
  },
  {
    does: "takes updated_since for an instant before the changes",
    caughtBy: ["sync-inclusive"],
    fault: () =>
      answers((seen, { query }) => {
        const since = query.get("updated_since")
        if (since === null || !Array.isArray(seen.body?.data)) return
        seen.body.data = seen.body.data.filter((it: { updated_at: string }) => it.updated_at > since)
      })
  },
  {
    does: "clamps a page that is too large",
    caughtBy: ["list-limit-range"],
    fault: () =>
      requests(({ query }) => {
        if (Number(query.get("limit")) > 100) query.set("limit", "100")
      })
  },
  {
    does: "responds to an unknown path without the envelope",
    caughtBy: ["envelope-unknown-route", "envelope-outside"],
    fault: () =>
      answers((seen) => {
        if (seen.status === 404) seen.body = { error: "Not Found" }
      })
  },
  {
    does: "returns a collected ticket without its outcome",
    caughtBy: ["status-ready-collected", "status-impossible-collected"],
    fault: () =>
      answers((seen) => {
        for (const ticket of ticketsIn(seen)) ticket.outcome = null
      })
  },
  {
    does: "takes a deposit above the price",
    caughtBy: ["deposit-above-price"],
    fault: () =>
      requests(({ body }) => {
        if (body?.deposit_minor > body?.price_minor) body.deposit_minor = body.price_minor
      })
  },
  {
    does: "lets unknown fields vanish",
    caughtBy: ["create-unknown-field"],
    fault: () =>
      requests(({ body }) => {
        if (body?.price_minors !== undefined) delete body.price_minors
      })
  },
  {
    does: "reports only the first problem of a request",
    caughtBy: ["create-every-problem"],
    fault: () =>
      answers((seen) => {
        seen.body?.error?.details?.issues?.splice(1)
      })
  },
  {
    does: "lets a revoked key work on",
    caughtBy: ["key-revoked"],
    fault: () =>
      instead(({ method, path }) =>
        method === "DELETE" && path.startsWith("/sandbox/keys/")
          ? { success: true, data: { id: path.slice(14), revoked_at: null } }
          : undefined
      )
  },
  {
    does: "gives every key all rights",
    caughtBy: ["scope-post-tickets", "scope-post-clients-id-loyalty-stamps", "error-forbidden-scope"],
    fault: () =>
      requests((asked) => {
        if (/^\/sandbox\/shops\/[^/]+\/keys$/.test(asked.path) && asked.method === "POST")
          asked.body = { name: "Any", preset: "full" }
      })
  },
  {
    does: "gives LOYALTY_OFF as the code and not as the reason",
    caughtBy: ["loyalty-off-refuses"],
    fault: () =>
      answers((seen) => {
        if (seen.body?.error?.details?.reason === "LOYALTY_OFF") seen.body.error.code = "LOYALTY_OFF"
      })
  },
  {
    does: "picks the oldest ticket with a number",
    caughtBy: ["by-number-newest-open"],
    fault: () =>
      answers(async (seen, { path }, behind) => {
        const oldest = path.startsWith("/v1/tickets/by-number/") ? seen.body?.meta?.others?.at(-1) : undefined
        if (oldest !== undefined) seen.body.data = (await behind(`/v1/tickets/${oldest.id}`)).data
      })
  },
  {
    does: "lists the others of a number the oldest first",
    caughtBy: ["by-number-many-others"],
    fault: () =>
      answers((seen) => {
        seen.body?.meta?.others?.reverse()
      })
  },
  {
    does: "lets an abandoned ticket's client be notified",
    caughtBy: ["notified-abandoned"],
    fault: () =>
      answers(async (seen, { path }, behind) => {
        if (!path.endsWith("/notified") || seen.body?.error?.details?.reason !== "ABANDONED") return
        seen.status = 200
        seen.body = await behind(path.replace("/notified", ""))
      })
  },
  {
    does: "forbids another shop's ticket in place of not finding it",
    caughtBy: ["read-ticket", "one-key-one-shop"],
    fault: () => {
      const ids = new Set<string>()
      return answers((seen, { path }) => {
        for (const { id } of ticketsIn(seen)) ids.add(id)
        if (seen.status !== 404 || !ids.has(path.split("/")[3] ?? "")) return
        seen.status = 403
        seen.body.error.code = "FORBIDDEN"
      })
    }
  },
  {
    does: "leaves the limits out of what it says to strangers",
    caughtBy: ["limit-headers"],
    fault: () =>
      answers((seen) => {
        if (seen.status === 401)
          for (const name of ["Limit", "Remaining", "Reset"]) seen.headers.delete(`RateLimit-${name}`)
      })
  },
  {
    does: "gives all responses one Request-Id",
    caughtBy: ["error-request-id"],
    fault: () => answers((seen) => seen.headers.set("Request-Id", "1"))
  },
  {
    does: "writes a number's label without its zeros",
    caughtBy: ["number-label", "create-number-wraps"],
    fault: () =>
      answers((seen) => {
        for (const ticket of ticketsIn(seen)) ticket.number_label = String(ticket.number)
      })
  },
  {
    does: "writes instants without their milliseconds",
    caughtBy: ["instants-utc"],
    fault: () =>
      answers((seen) => {
        for (const ticket of ticketsIn(seen)) ticket.created_at = ticket.created_at.replace(/\.\d+Z$/, "Z")
      })
  },
  {
    does: "shows the whole name of a client who hides it",
    caughtBy: ["client-hidden-name"],
    fault: () =>
      answers((seen) => {
        if (seen.body?.data?.display_name === "Amira B.") seen.body.data.display_name = "Amira Ben Salah"
      })
  },
  {
    does: "does not name the field that holds a forbidden word",
    caughtBy: ["error-profanity"],
    fault: () =>
      answers((seen) => {
        if (seen.status === 422) delete seen.body.error.details
      })
  },
  {
    does: "makes a price of the items' prices",
    caughtBy: ["money-without-price"],
    fault: () =>
      requests(({ body }) => {
        if (Array.isArray(body?.items) && body.price_minor === undefined) body.price_minor = 300
      })
  },
  {
    does: "counts the shop's day in UTC",
    caughtBy: ["limit-stamps-day", "limit-tickets-day"],
    fault: () =>
      requests(({ method, path, body }) => {
        if (method === "POST" && path === "/sandbox/shops") body.time_zone = "UTC"
      })
  },
  {
    does: "sends again what it was only to count",
    caughtBy: ["replay-deliveries"],
    fault: () =>
      requests(({ path, body }) => {
        if (path.endsWith("/deliveries/replay")) delete body.dry_run
      })
  },
  {
    does: "speaks to web pages of other sites",
    caughtBy: ["envelope-options"],
    fault: () => answers((seen) => seen.headers.set("Access-Control-Allow-Origin", "*"))
  }
]
