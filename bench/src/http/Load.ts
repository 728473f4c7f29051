import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import autocannon, { type Request } from "autocannon"
import { KEYS, key, SHOPS, ticketBody } from "./Workload.js"

export type Work = "GET" | "POST"

/** The requests that a load generator sends to a server. */
export interface Load {
  readonly port: number
  readonly work: Work
  readonly tickets: ReadonlyArray<string>
  /**
   * The number of the first request. Each run on a server begins after the last request of the
   * previous run, because a repeated create would be a replay.
   */
  readonly from: number
  readonly requests: number
}

/**
 * A load generator. It sends exactly or about the number of requests, and returns the responses per second and the
 * number sent.
 */
export type Generator = (load: Load) => Promise<{ readonly per_second: number; readonly sent: number }>

export const CONNECTIONS = 32

const AUTHORIZED = Array.from({ length: KEYS }, (_, n) => ({ authorization: `Bearer ${key(n)}` }))

const requestOf = ({ work, tickets }: Load, n: number): Request => {
  const { authorization } = AUTHORIZED[n % KEYS]!
  return work === "GET"
    ? { method: "GET", path: `/v1/tickets/${tickets[n % SHOPS]}`, headers: { authorization } }
    : {
        method: "POST",
        path: "/v1/tickets",
        headers: { authorization, "content-type": "application/json", "idempotency-key": `order-${n}` },
        body: ticketBody(n)
      }
}

/**
 * Prevents this process from sleeping during the work. The kernel counts the time to wake a sleeping client as time of
 * the server, and the clients of a slower server sleep more. Its responses would seem to cost up to 13 µs more.
 */
const awake = async <A>(work: () => Promise<A>): Promise<A> => {
  let isOver = false
  const turn = () => {
    if (!isOver) setImmediate(turn)
  }
  turn()
  try {
    return await work()
  } finally {
    isOver = true
  }
}

/** Sends exactly the given number of requests with autocannon. All requests are built before the run. */
export const withAutocannon: Generator = (load) => awake(() => sending(load))

const sending: Generator = async (load) => {
  let started = 0
  let ended = 0
  let responses = 0
  let connection = 0
  const running = autocannon({
    url: `http://127.0.0.1:${load.port}`,
    connections: CONNECTIONS,
    amount: load.requests,
    sampleInt: 100,
    setupClient: (client) => {
      const first = load.from + connection++
      const length = Math.ceil(load.requests / CONNECTIONS)
      client.setRequests(Array.from({ length }, (_, i) => requestOf(load, first + i * CONNECTIONS)))
    }
  })
  running.on("start", () => {
    started = performance.now()
  })
  running.on("response", () => {
    responses++
    ended = performance.now()
  })
  const { errors, non2xx } = await running
  if (errors + non2xx > 0) throw new Error(`${errors} errors and ${non2xx} refusals: the load must not be refused`)
  return { per_second: (responses * 1000) / (ended - started), sent: responses }
}

const lua = ({ work, tickets, from }: Load): string => {
  const list = (name: string, values: ReadonlyArray<string>) =>
    `local ${name} = {${values.map((v) => `[==[${v}]==]`)}}\n`
  const keys = list(
    "keys",
    AUTHORIZED.map(({ authorization }) => authorization)
  )
  if (work === "GET")
    return `${keys}${list("tickets", tickets)}local n = ${from}
request = function()
  n = n + 1
  return "GET /v1/tickets/" .. tickets[n % ${SHOPS} + 1] .. " HTTP/1.1\\r\\nHost: bench\\r\\nAuthorization: " .. keys[n % ${KEYS} + 1] .. "\\r\\n\\r\\n"
end`
  const bodies = list(
    "bodies",
    Array.from({ length: 1000 }, (_, n) => ticketBody(n))
  )
  return `${keys}${bodies}local n = ${from}
request = function()
  n = n + 1
  local body = bodies[n % 1000 + 1]
  return "POST /v1/tickets HTTP/1.1\\r\\nHost: bench\\r\\nContent-Type: application/json\\r\\nIdempotency-Key: order-" .. n ..
    "\\r\\nAuthorization: " .. keys[n % ${KEYS} + 1] .. "\\r\\nContent-Length: " .. #body .. "\\r\\n\\r\\n" .. body
end`
}

/**
 * The assumed requests per second, from which the duration of a run of wrk is computed, because wrk accepts only a
 * duration.
 */
const WRK_RATE = 30_000

/** Runs wrk for about the time that the given number of requests takes. */
export const withWrk: Generator = async (load) => {
  const directory = mkdtempSync(join(tmpdir(), "bench-"))
  const script = join(directory, "load.lua")
  writeFileSync(script, lua(load))
  try {
    const seconds = Math.max(1, Math.round(load.requests / WRK_RATE))
    const args = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, "-s", script, `http://127.0.0.1:${load.port}`]
    const { stdout } = await promisify(execFile)("wrk", args)
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`The load must not be refused:\n${stdout}`)
    const numberAfter = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1])
    return { per_second: numberAfter(/Requests\/sec: +([\d.]+)/), sent: numberAfter(/(\d+) requests in/) }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
