import { answers, type BrokenServer, instead, requests, ticketsIn } from "./BrokenServer.js"

const isCreate = (method: string, path: string) => method === "POST" && path === "/v1/tickets"
const isList = (method: string, path: string) => method === "GET" && path === "/v1/tickets"

/** Servers with a fault in how they read requests or write responses. */
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
    does: "reveals in a header that a client blocks the shop",
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
    does: "reveals in a message that a client blocks the shop",
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
    does: "omits the time to wait from a refusal by a limit",
    caughtBy: ["error-retry-after", "limit-requests"],
    fault: () => answers((seen) => seen.headers.delete("Retry-After"))
  },
  {
    does: "skips the first row of each page after the first",
    caughtBy: ["list-pages"],
    fault: () =>
      answers((seen, { method, path, query }) => {
        if (isList(method, path) && query.has("cursor")) seen.body?.data?.shift()
      })
  },
  {
    does: "reports every page as the last one",
    caughtBy: ["list-pages", "list-default-page"],
    fault: () =>
      answers((seen, { method, path }) => {
        if (isList(method, path) && seen.body?.meta) seen.body.meta.has_more = false
      })
  },
  {
    does: "continues a list after the last instant of a page instead of after its last row",
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
    does: "excludes changes at the instant of updated_since",
    caughtBy: ["sync-inclusive"],
    fault: () =>
      answers((seen, { query }) => {
        const since = query.get("updated_since")
        if (since === null || !Array.isArray(seen.body?.data)) return
        seen.body.data = seen.body.data.filter((it: { updated_at: string }) => it.updated_at > since)
      })
  },
  {
    does: "lowers a page size that is too large instead of refusing it",
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
    does: "accepts a deposit above the price",
    caughtBy: ["deposit-above-price"],
    fault: () =>
      requests(({ body }) => {
        if (body?.deposit_minor > body?.price_minor) body.deposit_minor = body.price_minor
      })
  },
  {
    does: "drops unknown fields instead of refusing them",
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
    does: "accepts a revoked key",
    caughtBy: ["key-revoked"],
    fault: () =>
      instead(({ method, path }) =>
        method === "DELETE" && path.startsWith("/sandbox/keys/")
          ? { success: true, data: { id: path.slice(14), revoked_at: null } }
          : undefined
      )
  },
  {
    does: "gives every key all scopes",
    caughtBy: ["scope-post-tickets", "scope-post-clients-id-loyalty-stamps", "error-forbidden-scope"],
    fault: () =>
      requests((asked) => {
        if (/^\/sandbox\/shops\/[^/]+\/keys$/.test(asked.path) && asked.method === "POST")
          asked.body = { name: "Any", preset: "full" }
      })
  },
  {
    does: "returns LOYALTY_OFF as the code instead of the reason",
    caughtBy: ["loyalty-off-refuses"],
    fault: () =>
      answers((seen) => {
        if (seen.body?.error?.details?.reason === "LOYALTY_OFF") seen.body.error.code = "LOYALTY_OFF"
      })
  },
  {
    does: "returns the oldest ticket with a number instead of the newest",
    caughtBy: ["by-number-newest-open"],
    fault: () =>
      answers(async (seen, { path }, behind) => {
        const oldest = path.startsWith("/v1/tickets/by-number/") ? seen.body?.meta?.others?.at(-1) : undefined
        if (oldest !== undefined) seen.body.data = (await behind(`/v1/tickets/${oldest.id}`)).data
      })
  },
  {
    does: "lists the other tickets with a number oldest first",
    caughtBy: ["by-number-many-others"],
    fault: () =>
      answers((seen) => {
        seen.body?.meta?.others?.reverse()
      })
  },
  {
    does: "records a notification for an abandoned ticket",
    caughtBy: ["notified-abandoned"],
    fault: () =>
      answers(async (seen, { path }, behind) => {
        if (!path.endsWith("/notified") || seen.body?.error?.details?.reason !== "ABANDONED") return
        seen.status = 200
        seen.body = await behind(path.replace("/notified", ""))
      })
  },
  {
    does: "returns 403 instead of 404 for another shop's ticket",
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
    does: "omits the limits from responses to requests without a key",
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
    does: "writes number_label without leading zeros",
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
    does: "sets the ticket's price to the sum of the items' prices",
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
    does: "replays events that it should only count",
    caughtBy: ["replay-deliveries"],
    fault: () =>
      requests(({ path, body }) => {
        if (path.endsWith("/deliveries/replay")) delete body.dry_run
      })
  },
  {
    does: "allows web pages of other sites to read responses",
    caughtBy: ["envelope-options"],
    fault: () => answers((seen) => seen.headers.set("Access-Control-Allow-Origin", "*"))
  }
]
