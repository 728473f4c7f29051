import { createClient } from "@workshop/client"
import { type Ticket, Tickets } from "@workshop/core"
import * as Workshop from "@workshop/core/promise"
import { mountNode } from "@workshop/http-node"
import * as MemoryStore from "@workshop/store-memory"
import { MigratedStore } from "@workshop/store-pg"
import { verify } from "@workshop/webhooks"
import { Effect } from "effect"

// Code of an embedder, an API client and a receiver. test/packages.test.ts compiles it with the oldest supported
// TypeScript.

const client = createClient({ baseUrl: "http://127.0.0.1:4010", key: "wk_live_x" })

export const services = async (): Promise<ReadonlyArray<string>> => {
  const page = await client.tickets.list({ state: ["ready"] })
  if (!page.ok) throw new Error(page.error.code === "TOO_MANY_ATTEMPTS" ? page.error.details.limit : page.error.message)
  const tickets: ReadonlyArray<Ticket> = page.value
  return tickets.map(({ service }) => service)
}

export const isGenuine = async (body: string, signature: string | null): Promise<boolean> =>
  (await verify(body, signature, "whsec_x")).ok

/** The function from the guides that returns the caller of a request. `mountNode` accepts it too. */
declare const callerOf: () => Omit<Workshop.PlainCaller, "via"> | null

export const embedded = async () => {
  const workshop = await Workshop.start({ store: MemoryStore.layer })
  return mountNode(workshop, { authenticate: callerOf })
}

export const stores = [MemoryStore.layer, MigratedStore.layer({ url: "postgres://127.0.0.1/workshop" })] as const

export const read = Effect.flatMap(Tickets, ({ list }) => Effect.succeed(list.length))
