import { Agent, get } from "node:http"
import { Child } from "../deliver/Child.js"
import { median } from "../Median.js"
import { benchmark, type Row, roundTo } from "../report/Benchmark.js"

/** The largest memory of an idle connection, in bytes. */
const CONNECTION_BYTES = 32_768

/** The number of requests that are sent beside the idle connections. */
const REQUESTS = 300

const MIB = 2 ** 20

/** Sends a request that needs no key, on a connection of the agent. */
const ask = (port: number, agent: Agent): Promise<void> =>
  new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: "/v1/openapi.json", agent, headers: { "if-none-match": "*" } }, (response) => {
      response.resume().once("end", resolve).once("error", reject)
    }).once("error", reject)
  })

const medianRequest = async (port: number): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const durations: Array<number> = []
  for (let i = 0; i < REQUESTS; i++) {
    const begun = performance.now()
    await ask(port, agent)
    durations.push(performance.now() - begun)
  }
  agent.destroy()
  return median(durations)
}

/** The bytes of a ticket in the memory store, with its shop's share and the event that it raised. */
const ticketRows = async (sizes: ReadonlyArray<number>): Promise<ReadonlyArray<Row>> => {
  const child = await Child.start("../memory/tickets")
  const needed = async (tickets: number) => (await child.ask<{ bytes: number }>({ tickets })).bytes
  const before = await needed(0)
  const rows: Array<Row> = []
  for (const tickets of sizes) {
    const bytes = (await needed(tickets)) - before
    rows.push({ work: `memory store: a ticket, of ${tickets}`, unit: "bytes", ours: Math.round(bytes / tickets) })
  }
  await child.stop()
  return rows
}

/** Measures the bytes of idle connections after a request on each, and the latency of a request beside them. */
const connectionRows = async (connections: number): Promise<ReadonlyArray<Row>> => {
  const server = await Child.start<{ port: number }>("../memory/server")
  const { port } = server.ready
  const needed = () => server.ask<{ bytes: number; resident: number }>({})
  const alone_ms = await medianRequest(port)
  const before = await needed()
  const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections })
  for (let open = 0; open < connections; open += 500)
    await Promise.all(Array.from({ length: Math.min(open + 500, connections) }, () => ask(port, agent)))
  const beside_ms = await medianRequest(port)
  const after = await needed()
  const held = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0)
  if (held < connections) throw new Error(`Only ${held} of ${connections} connections stayed open`)
  agent.destroy()
  await server.stop()
  const bound = { at_most: CONNECTION_BYTES }
  return [
    {
      work: `an idle connection, of ${connections}`,
      unit: "bytes",
      ours: Math.round((after.bytes - before.bytes) / connections),
      target: bound,
      goal: bound
    },
    {
      work: `the server with ${connections} idle connections, resident`,
      unit: "MiB",
      ours: roundTo(after.resident / MIB, 0)
    },
    { work: "a request beside none, p50", unit: "ms", ours: roundTo(alone_ms, 3) },
    { work: `a request beside ${connections} idle connections, p50`, unit: "ms", ours: roundTo(beside_ms, 3) }
  ]
}

/** Measures the memory of tickets in the memory store, and of idle connections in the server. */
export const memory = benchmark({
  about: "how much memory a ticket takes in the memory store, and an idle connection in the server",
  options: { quick: { about: "fewer tickets and connections" } },
  args: { usual: [], quick: ["--quick"] },
  run: async ({ quick }) => {
    const tickets = await ticketRows(quick ? [5_000, 20_000] : [10_000, 100_000])
    const connections = await connectionRows(quick ? 1_000 : 10_000)
    return { rows: [...tickets, ...connections] }
  }
})
