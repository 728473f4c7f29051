import { Effect } from "effect"
import { Pool } from "undici"
import { serversCpu } from "../cells/ServerCpu.js"
import { Child } from "../deliver/Child.js"
import { KEYS_PER_SHOP, key, ticketBody } from "../http/Workload.js"
import { cluster } from "../pg/Cluster.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"
import { LIFE_WORKS, type LifeQuestion, READS, SHOPS, STATES, WRITES } from "./Life.js"

const CONNECTIONS = 32

/** Sends requests to a server, each with the next key. */
const requests = (port: number) => {
  let sent = 0
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
  const send = async (n: number, method: "GET" | "POST", path: string, body?: string): Promise<string> => {
    const headers = {
      authorization: `Bearer ${key(n % (SHOPS * KEYS_PER_SHOP))}`,
      ...(body !== undefined && { "content-type": "application/json", "idempotency-key": `life-${++sent}` })
    }
    const response = await pool.request({ method, path, headers, ...(body !== undefined && { body }) })
    const text = await response.body.text()
    if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
    return text
  }
  return {
    create: async (n: number): Promise<string> =>
      JSON.parse(await send(n, "POST", "/v1/tickets", ticketBody(n))).data.id,
    change: (n: number, id: string, status: string) =>
      send(n, "POST", `/v1/tickets/${id}/status`, JSON.stringify({ status })),
    read: (n: number, id: string) => send(n, "GET", `/v1/tickets/${id}`),
    close: () => pool.close()
  }
}

type Requests = ReturnType<typeof requests>

/** Runs work for each of a number of tickets, {@link CONNECTIONS} at a time. */
const each = async (tickets: number, work: (n: number) => Promise<unknown>): Promise<void> => {
  let next = 0
  const worker = async () => {
    while (next < tickets) await work(next++)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
}

const writes = async ({ create, change }: Requests, n: number): Promise<string> => {
  const id = await create(n)
  for (const state of STATES) await change(n, id, state)
  return id
}

const reads = async ({ read }: Requests, n: number, id: string): Promise<void> => {
  for (let i = 0; i < READS; i++) await read(n + i * SHOPS, id)
}

interface Cost {
  readonly seconds: number
  readonly service_ms: number
  readonly servers_ms: number
}

const measuring = (server: Child<{ readonly port: number }>, serversMs: () => number) => {
  const used = async (asked: LifeQuestion["asked"]) => {
    const { user, system } = await server.ask<NodeJS.CpuUsage>({ asked } satisfies LifeQuestion)
    return (user + system) / 1_000
  }
  const costOf = async (work: () => Promise<unknown>): Promise<Cost> => {
    const [service, servers, begun] = [await used("usage"), serversMs(), performance.now()]
    await work()
    const seconds = (performance.now() - begun) / 1_000
    return { seconds, service_ms: (await used("usage")) - service, servers_ms: serversMs() - servers }
  }
  return { used, costOf }
}

const rowsOf = (part: string, acts: number, { service_ms, servers_ms }: Cost): ReadonlyArray<Row> => [
  { work: `${LIFE_WORKS.service}, ${part}`, unit: "ms", ours: roundTo(service_ms / acts, 3) },
  { work: `${LIFE_WORKS.servers}, ${part}`, unit: "ms", ours: roundTo(servers_ms / acts, 3) }
]

const bench = (tickets: number) =>
  Effect.gen(function* () {
    const { database } = yield* cluster()
    const url = yield* database("life")
    const serversMs = yield* serversCpu([url])
    if (serversMs === null) return yield* Effect.dieMessage("The database must run on this machine: unset DATABASE_URL")
    return yield* Effect.promise(async () => {
      const receiver = await Child.start<{ readonly port: number }>("receiver")
      const server = await Child.start<{ readonly port: number }>("../life/server", [url, String(receiver.ready.port)])
      const asking = requests(server.ready.port)
      const { used, costOf } = measuring(server, serversMs)
      const life = async (n: number) => reads(asking, n, await writes(asking, n))
      const lives = async () => {
        await used("deliver")
        await each(tickets, life)
        await used("delivered")
      }
      await lives()
      await used("stop")
      const ids: Array<string> = []
      const written = await costOf(() => each(tickets, async (n) => (ids[n] = await writes(asking, n))))
      const read = await costOf(() => each(tickets, (n) => reads(asking, n, ids[n]!)))
      const delivered = await costOf(async () => {
        await used("deliver")
        await used("delivered")
      })
      const all = await costOf(lives)
      await asking.close()
      await Promise.all([server.stop(), receiver.stop()])
      const rows: ReadonlyArray<Row> = [
        { work: LIFE_WORKS.rate, unit: "/s", ours: roundTo(tickets / all.seconds, 1) },
        ...rowsOf("a life of a ticket", tickets, all),
        ...rowsOf("a write", tickets * WRITES, written),
        ...rowsOf("a read", tickets * READS, read),
        ...rowsOf("a delivery", tickets * WRITES, delivered)
      ]
      return { rows }
    })
  })

/**
 * Measures the costs of a ticket's life on Postgres: its writes, reads and deliveries over HTTP, concurrently and each
 * alone.
 */
export const life = benchmark({
  about: "what the writes, reads and deliveries of a ticket's life cost on Postgres, over HTTP, all at once and apart",
  options: { tickets: { about: "the number of tickets", value: "1000" } },
  args: { usual: [], quick: ["--tickets", "100"] },
  run: async ({ tickets }) => Effect.runPromise(Effect.scoped(bench(Number(tickets))))
})
