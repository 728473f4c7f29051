import { hash } from "node:crypto"
import { Policies } from "@workshop/core"
import { startProfile } from "../parts/profile.js"

// There are enough shops and keys that no request reaches a limit. Both servers have their usual limits.
export const SHOPS = 1900
export const KEYS_PER_SHOP = 5
export const KEYS = SHOPS * KEYS_PER_SHOP

/**
 * The largest number of requests to a server, in total and within a minute, that the limits of keys and shops allow.
 */
export const MAX_REQUESTS = {
  GET: KEYS * (Policies.requests_per_minute.limit - 1),
  POST: Math.min(KEYS * (Policies.writes_per_minute.limit - 1), SHOPS * (Policies.tickets_per_hour.limit - 1))
} as const

export const SHOP = {
  name: "Atelier Lac",
  currency: "TND",
  decimals: 3,
  time_zone: "Africa/Tunis",
  tracking_base_url: "https://t.example/"
} as const

export const SCOPES = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"] as const

/** The text of the `n`th key; it belongs to the shop `n % SHOPS`. */
export const key = (n: number): string => `wk_live_${hash("sha256", `bench ${n}`, "base64url")}`

/** The body of the `n`th create. Every second one has a phone number. */
export const ticketBody = (n: number): string =>
  JSON.stringify({
    service: "Zip replacement",
    item: "Leather jacket, brown",
    description: "The left pocket's zip is broken near the top; keep the old slider. Call before 6 pm.",
    ...(n % 2 === 0 ? { client_phone: `+216 20 ${String(100_000 + (n % 900_000))}` } : {}),
    price_minor: 45_000,
    deposit_minor: 10_000,
    promised_at: "2031-11-24T17:00:00Z",
    external_ref: `POS-${n}`
  })

/** A message from a server's parent: a request for its processor time, to start the profile, or for its result. */
export type ServerQuestion = "usage" | "profile" | "shares"

/** A server's message to its parent once it listens. */
export interface Ready {
  readonly port: number
  /** A ticket of each shop. */
  readonly tickets: ReadonlyArray<string>
}

/**
 * Reports to the parent that the server listens, and then responds to its requests for the processor time and the
 * profile.
 */
export const announce = (ready: Ready): void => {
  let ending: Awaited<ReturnType<typeof startProfile>> | undefined
  const responses = {
    usage: async () => process.cpuUsage(),
    profile: async () => {
      ending = await startProfile()
      return {}
    },
    shares: () => ending!()
  }
  process.on("message", async (question: ServerQuestion) => process.send?.(await responses[question]()))
  process.on("disconnect", () => process.exit())
  process.send?.(ready)
  if (process.send === undefined) console.log(ready.port)
}
