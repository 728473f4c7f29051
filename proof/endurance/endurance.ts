import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { Load, Receiver } from "../torture/Load.js"
import { freePort, migrated, Postgres, ServiceNode, Wire } from "../torture/Servers.js"
import { memoryOf, quantile, type Sample, sample } from "./Probe.js"
import { plot } from "./plot.js"

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A node with its database, its shops and their receiver. */
interface Stage {
  readonly postgres: Postgres
  readonly node: ServiceNode
  readonly load: Load
}

/** Opens shops on a node with a database of its own, does something with them, and takes all down. */
const onStage = async <A>(shops: number, act: (stage: Stage) => Promise<A>): Promise<A> => {
  const postgres = await Postgres.start()
  const wire = new Wire(() => postgres.port)
  const receiver = new Receiver(() => 0)
  receiver.isWell = true
  await Promise.all([wire.open(), receiver.open()])
  migrated(postgres.url)
  const node = new ServiceNode("one", wire, await freePort(), postgres.folder)
  try {
    node.start()
    const why = await node.unready()
    if (why !== undefined) throw new Error(`${why}\n${node.said}`)
    const load = new Load([node.base], Math.random)
    await load.open(shops, receiver.url)
    return await act({ postgres, node, load })
  } finally {
    node.kill()
    receiver.end()
    wire.end()
    await pause(200)
    postgres.end()
    rmSync(postgres.folder, { recursive: true, force: true })
  }
}

/** A request of a mixed load, and how long its answer took; null where none came. */
const mixed = async (load: Load, no: number): Promise<{ readonly status: number | null; readonly took_ms: number }> => {
  const shop = load.shops[no % load.shops.length]!
  const key = shop.keys[Math.floor(no / load.shops.length) % shop.keys.length]!
  const ticket = shop.tickets.at(-1)
  const began = performance.now()
  const took = (status: number | null) => ({ status, took_ms: performance.now() - began })
  if (no % 20 === 0 || ticket === undefined) {
    const once = crypto.randomUUID()
    const { status, answer } = await load.call("POST", "/v1/tickets", {
      key,
      once,
      body: { service: "Hem", external_ref: once }
    })
    if (status === 201) shop.tickets.push(answer.data.id)
    return took(status)
  }
  if (no % 20 === 10)
    return took((await load.call("POST", `/v1/tickets/${ticket}/status`, { key, body: { status: "ready" } })).status)
  const path = no % 3 === 0 ? "/v1/tickets?limit=20" : no % 3 === 1 ? `/v1/tickets/${ticket}` : "/v1/shop"
  return took((await load.call("GET", path, { key })).status)
}

/** How much a measure grew from the first third after the start to the last third, as a share. */
const growth = (samples: ReadonlyArray<Sample>, name: "rss_mib" | "handles" | "connections" | "p99_ms"): number => {
  const third = Math.floor(samples.length / 3)
  const median = (part: ReadonlyArray<Sample>) =>
    quantile(
      part.flatMap((one) => one[name] ?? []),
      0.5
    )
  const [before, after] = [median(samples.slice(third, 2 * third)), median(samples.slice(-third))]
  return before === 0 ? 0 : after / before - 1
}

/** A mixed load at a steady rate, with memory, handles, connections, sizes and waits measured as it goes on. */
export const soak = (minutes: number, rate: number, folder: string): Promise<ReadonlyArray<string>> =>
  onStage(40, async ({ postgres, node, load }) => {
    const began = performance.now()
    const seconds = minutes * 60
    const every_s = Math.max(2, Math.min(15, seconds / 40))
    const samples: Array<Sample> = []
    let waits: Array<number> = []
    const statuses: Record<string, number> = {}
    let no = 0
    let sampled = 0
    while (performance.now() - began < seconds * 1000) {
      const second = (performance.now() - began) / 1000
      while (no < second * rate) {
        void mixed(load, no++).then(({ status, took_ms }) => {
          waits.push(took_ms)
          statuses[String(status)] = (statuses[String(status)] ?? 0) + 1
        })
      }
      if (second - sampled >= every_s) {
        samples.push(sample(node, postgres, Math.round(second), waits, second - sampled))
        waits = []
        sampled = second
      }
      await pause(5)
    }
    mkdirSync(folder, { recursive: true })
    const title = `${minutes} minutes of ${rate} requests a second`
    writeFileSync(`${folder}/soak.json`, JSON.stringify(samples))
    writeFileSync(`${folder}/soak.svg`, plot(samples, title))
    console.log(
      `${title}: ${Object.entries(statuses)
        .map(([status, times]) => `${times} × ${status}`)
        .join(", ")}`
    )
    console.log(JSON.stringify({ first: samples[Math.floor(samples.length / 3)], last: samples.at(-1) }))
    console.log(`Plotted: ${folder}/soak.svg`)
    const grown = (["rss_mib", "handles", "connections"] as const).flatMap((name) => {
      const share = growth(samples, name)
      return share > 0.2 ? [`${name} grew by ${Math.round(share * 100)} % between the second third and the last`] : []
    })
    const failed = Object.keys(statuses).filter((status) => status === "null" || Number(status) >= 500)
    return [...grown, ...failed.map((status) => `${statuses[status]} requests ended with ${status}`)]
  })

/** Load beyond capacity: what is answered, how late, with which memory, and how soon the node is well again. */
export const overload = (seconds: number): Promise<ReadonlyArray<string>> =>
  onStage(120, async ({ node, load }) => {
    let no = 0
    const closed = async (until: number, waits: Array<number>) => {
      while (performance.now() < until) waits.push((await mixed(load, no++)).took_ms)
    }
    const waits: Array<number> = []
    const until = performance.now() + 5000
    await Promise.all(Array.from({ length: 16 }, () => closed(until, waits)))
    const capacity = waits.length / 5
    const before_mib = memoryOf(node.pid) ?? 0

    const answered: Record<string, number> = {}
    const late: Array<number> = []
    let most_mib = before_mib
    const began = performance.now()
    const offered = 4 * capacity
    const open: Array<Promise<void>> = []
    for (let sent = 0; performance.now() - began < seconds * 1000; await pause(2)) {
      // Counted before the loop, which would never end where this process cannot send as fast as that.
      const due = ((performance.now() - began) / 1000) * offered
      for (; sent < due; sent++)
        open.push(
          mixed(load, no++).then(({ status, took_ms }) => {
            // A connection that is refused fails at once; who waits for an answer gives up after five seconds.
            const name = status !== null ? String(status) : took_ms < 4900 ? "refused" : "timeout"
            answered[name] = (answered[name] ?? 0) + 1
            if (status !== null) late.push(took_ms)
          })
        )
      most_mib = Math.max(most_mib, memoryOf(node.pid) ?? 0)
    }
    const ended = performance.now()
    // It is well again when three requests in a row are answered in a tenth of a second.
    let well = 0
    while (well < 3 && performance.now() - ended < 60_000) {
      const one = await load.call("GET", "/healthz").then(() => mixed(load, 1))
      well = one.status !== null && one.status < 500 && one.took_ms < 100 ? well + 1 : 0
    }
    const recovered_s = (performance.now() - ended) / 1000
    await Promise.all(open)
    const total = Object.values(answered).reduce((sum, times) => sum + times, 0)
    const good = Object.entries(answered).reduce((sum, [status, times]) => sum + (Number(status) < 500 ? times : 0), 0)
    console.log(
      `Capacity ${Math.round(capacity)} requests a second (p99 ${quantile(waits, 0.99).toFixed(0)} ms); offered ${Math.round(total / seconds)} of the wanted ${Math.round(offered)} for ${seconds} s.`
    )
    console.log(
      `Answered: ${Object.entries(answered)
        .map(([status, times]) => `${times} × ${status}`)
        .join(", ")} of ${total}; p50 ${quantile(late, 0.5).toFixed(0)} ms, p99 ${quantile(late, 0.99).toFixed(0)} ms.`
    )
    console.log(
      `Memory ${before_mib} MiB before, at most ${most_mib} MiB; well again after ${recovered_s.toFixed(1)} s.`
    )
    return [
      ...(answered["500"] === undefined ? [] : [`${answered["500"]} requests ended with 500`]),
      ...((answered.timeout ?? 0) + (answered.refused ?? 0) > total / 100
        ? [`${(answered.timeout ?? 0) + (answered.refused ?? 0)} of ${total} requests got no response`]
        : []),
      ...(good / seconds < capacity / 2
        ? [
            `only ${Math.round(good / seconds)} requests a second were answered, of a capacity of ${Math.round(capacity)}`
          ]
        : []),
      ...(recovered_s > 15 ? [`it took ${recovered_s.toFixed(1)} s to recover`] : []),
      ...(most_mib > before_mib + 400 ? [`memory rose to ${most_mib} MiB`] : [])
    ]
  })
