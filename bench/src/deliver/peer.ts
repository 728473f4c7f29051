// graphile-worker with its local queue. Each job signs the body, sends it and inserts an attempt row.

import { createHmac, randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { Logger, type Runner, run } from "graphile-worker"
import pg from "pg"
import { Pool } from "undici"
import { answerParent } from "./Child.js"
import { type Deliver, IN_FLIGHT, measureRun, type Raise, SHOPS } from "./Job.js"

const [receiver, url] = process.argv.slice(2)
const SECRET = "whsec_1"

interface Payload {
  readonly shop_id: string
  readonly event_id: string
  readonly body: string
}

const http = new Pool(`http://127.0.0.1:${receiver}`, { connections: IN_FLIGHT, pipelining: 1 })
const pool = new pg.Pool({ connectionString: url, max: 20 })
pool.on("error", (error) => console.error(error))
pool.on("connect", (client) => client.on("error", (error) => console.error(error)))

const INSERT = `insert into attempt (shop_id, event_id, n, started_at, status, error, detail, address, timings, head)
  values ($1, $2, 1, $3, $4, null, null, '127.0.0.1', $5, $6)`

const deliverOne = async ({ shop_id, event_id, body }: Payload): Promise<void> => {
  const started = Date.now()
  const t = Math.floor(started / 1000)
  const v1 = createHmac("sha256", SECRET).update(`${t}.${body}`).digest("hex")
  const headers = { "content-type": "application/json; charset=utf-8", "service-signature": `t=${t},v1=${v1}` }
  const response = await http.request({ method: "POST", path: "/ok", headers, body })
  await response.body.dump()
  if (response.statusCode < 200 || response.statusCode > 299) throw new Error(`status ${response.statusCode}`)
  const timings = JSON.stringify({ total_ms: Date.now() - started })
  const values = [shop_id, event_id, started, response.statusCode, timings, `HTTP/1.1 ${response.statusCode} OK\n`]
  await pool.query({ name: "attempt", text: INSERT, values })
}

const PREPARE = `insert into graphile_worker._private_jobs (task_id, payload)
  select t.id, p.payload from graphile_worker._private_tasks t, json_array_elements($1::json) p (payload)
  where t.identifier = 'deliver'`

const start = (): Promise<Runner> =>
  run({
    pgPool: pool,
    taskList: { deliver: (payload) => deliverOne(payload as Payload) },
    noHandleSignals: true,
    preset: {
      worker: {
        concurrentJobs: IN_FLIGHT,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
        logger: new Logger(() => () => undefined)
      }
    }
  })

// The first start creates graphile-worker's schema and registers the task.
const first = await start()
await first.stop()

const bodyOf = (id: string, shop_id: string): string =>
  `{"id":"${id}","type":"ping","created_at":"${new Date().toISOString()}","api_version":"1","shop_id":"${shop_id}","data":{}}`

const shops = Array.from({ length: SHOPS }, () => randomUUID())

const fill = async (events: number): Promise<void> => {
  for (let queued = 0; queued < events; queued += 20) {
    const payloads = shops.flatMap((shop_id) =>
      Array.from({ length: Math.min(20, events - queued) }, () => {
        const event_id = randomUUID()
        return { shop_id, event_id, body: bodyOf(event_id, shop_id) }
      })
    )
    await pool.query(PREPARE, [JSON.stringify(payloads)])
  }
}

const isDone = async (): Promise<boolean> => {
  const { rows } = await pool.query("select exists (select from graphile_worker._private_jobs) as more")
  return rows[0].more === false
}

answerParent<Raise | Deliver>({ ready: true }, async (question) => {
  if ("raised" in question) {
    await fill(question.raised)
    await pool.query("vacuum analyze graphile_worker._private_jobs")
    return {}
  }
  const { events, isWatched } = question
  const all: { runner?: Runner } = {}
  const work = async () => {
    all.runner = await start()
    while (!(await isDone())) await pause(20)
  }
  const result = await measureRun(events * SHOPS, work, isWatched)
  await all.runner?.stop()
  return result
})
