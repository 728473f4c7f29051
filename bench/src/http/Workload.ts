import { hash } from "node:crypto"
import { Policies } from "@workshop/core"
import { profiling } from "../parts/profile.js"

// There are so many shops and keys that no request reaches a limit. Both servers keep their usual limits.
export const SHOPS = 1900
export const KEYS_PER_SHOP = 5
export const KEYS = SHOPS * KEYS_PER_SHOP

/** How many requests a server may be sent, from its start and within a minute, before a limit of a key or a shop refuses. */
export const MOST_REQUESTS = {
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

/** The body of a shop's `n`th create; every other one names a phone number. */
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

/** A question of a server's parent. */
export type Asked = "usage" | "profile" | "shares"

/** A server's message to its parent once it listens. */
export interface Ready {
  readonly port: number
  /** A ticket of each shop. */
  readonly tickets: ReadonlyArray<string>
}

/** Reports to the parent that the server listens, and from then on how much processor time it took, or on what, whenever asked. */
export const announce = (ready: Ready): void => {
  let ending: Awaited<ReturnType<typeof profiling>> | undefined
  const answers = {
    usage: async () => process.cpuUsage(),
    profile: async () => {
      ending = await profiling()
      return {}
    },
    shares: () => ending!()
  }
  process.on("message", async (asked: Asked) => process.send?.(await answers[asked]()))
  process.on("disconnect", () => process.exit())
  process.send?.(ready)
  if (process.send === undefined) console.log(ready.port)
}
