import { randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { freePort } from "../../test/freePort.js"
import { quantile } from "../quantile.js"
import { Load, Receiver } from "../torture/Load.js"
import { ServiceNode, Wire } from "../torture/Servers.js"
import { type Absence, killedAfter } from "./Absence.js"
import { connectionsTo } from "./connections.js"
import { ask, type Engine, type Server } from "./Engine.js"

/** The longest wait for an expected state. */
const TIMEOUT_MS = 90_000

/** The longest time until the service refuses a request to an unavailable cell (docs/operating.md). */
const REFUSED_WITHIN_MS = 6_000

/**
 * The same for a request that was in flight: it may wait for a statement and for the outcome of its commit, and before
 * that for another request.
 */
const ON_ITS_WAY_WITHIN_MS = 10_000

/** The largest number of connections of a process to one address (docs/operating.md). */
const MAX_CONNECTIONS = 16

/** The number of creates that are measured. */
const MEASURED = 10

/**
 * The creates when cells become unavailable: the number in flight, the number acknowledged before, and the most of each
 * creator.
 */
const CAUGHT = { at_once: 6, acknowledged: 6, each: 6 }

/**
 * The concurrent requests to the unavailable cells: their number, their interval, and the duration, which is longer for
 * a silent server, because it delays each request by seconds.
 */
const STRANDED = {
  at_once: 48,
  every_ms: 1_000,
  for_ms: { killed: 1_000, "killed after a move": 3_000, stopped: 6_000, "cut off": 6_000 }
}

/** The measured effects of the absence of a server. */
export interface Outage {
  readonly absence: Absence["name"]
  readonly cells: string
  /** The time until `/readyz` named the cells. */
  readonly noticed_ms: number
  /** The longest wait for a 503. */
  readonly refused_ms: number
  /** The same for requests that were in flight when the server became unavailable. */
  readonly on_its_way_ms: number
  /** The largest number of connections to the server that the process had open. */
  readonly connections: number
  /** The median latency of creates in the other cells, before and during the outage. */
  readonly create_ms: string
  /** The median time from the response to a create until its event arrived, before and during the outage. */
  readonly delivery_ms: string
  /** The time until `/readyz` named no cell and all cells served again. */
  readonly returned_ms: number
  readonly broken: ReadonlyArray<string>
}

interface Response {
  readonly status: number
  readonly retry_after: number
  readonly took_ms: number
  /** The id of the ticket. */
  readonly ticket: string
}

/** A create with a unique name, by which a lost or duplicate ticket is found. */
interface Work {
  readonly name: string
  isAcknowledged: boolean
}

/** A service over the cells of an engine, with one shop in each cell that accepts shops. */
class Service {
  readonly node: ServiceNode
  readonly load: Load
  readonly receiver = new Receiver(() => 0)
  /** The cell of each shop. */
  readonly cells: Array<string> = []
  readonly #works: Array<Work> = []
  readonly #engine: Engine
  readonly #folder = `/tmp/workshop-kills-${process.pid}`

  constructor(engine: Engine, port: number) {
    this.#engine = engine
    const { url, schema } = engine
    const cells = engine.cells.map(({ name, url }) => (url === undefined ? name : `${name}=${url}`)).join(" ")
    const words = ["--schema", schema, "--cells", cells]
    this.node = new ServiceNode("one", new Wire(() => 0), port, this.#folder, words, url)
    this.load = new Load([this.node.base], () => 0)
  }

  async open(): Promise<void> {
    await this.receiver.open()
    this.node.start()
    const unready = await this.node.unready()
    if (unready !== undefined) throw new Error(`${unready} ${this.node.output}`)
    const { places } = this.#engine
    // The service opens a shop in the cell with the fewest shops, so each cell gets one.
    await this.load.open(places.length, this.receiver.url)
    for (const { id } of this.load.shops)
      for (const { cell, url, schema } of places)
        if ((await ask(url, `select from ${schema}.shop where id = '${id}'`)).length > 0) this.cells.push(cell)
  }

  /** The numbers of the shops whose cells match. */
  shopsOf(isAmong: (cell: string) => boolean): ReadonlyArray<number> {
    return [...this.cells.keys()].filter((index) => isAmong(this.cells[index]!))
  }

  /** Creates a ticket with the next key of a shop, because each key may write only thirty times a minute. */
  create(index: number): Promise<Response> {
    const { keys } = this.load.shops[index]!
    return this.#post(keys[this.#works.length % keys.length]!)
  }

  /** Tries to create a ticket with an API key that does not exist. */
  createByStranger(): Promise<Response> {
    return this.#post(`wk_test_${"x".repeat(43)}`)
  }

  async #post(key: string): Promise<Response> {
    const began = performance.now()
    const work: Work = { name: `work ${this.#works.length}`, isAcknowledged: false }
    this.#works.push(work)
    const response = await fetch(`${this.node.base}/v1/tickets`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
        authorization: `Bearer ${key}`
      },
      body: JSON.stringify({ service: work.name })
    })
    work.isAcknowledged = response.status === 201
    const { data } = (await response.json()) as { readonly data?: { readonly id: string } }
    return {
      status: response.status,
      retry_after: Number(response.headers.get("retry-after")),
      took_ms: performance.now() - began,
      ticket: data?.id ?? ""
    }
  }

  /** The acknowledged tickets that the database lost or has twice. */
  async lostOrDoubled(): Promise<ReadonlyArray<string>> {
    const counts = new Map<string, number>()
    for (const { url, schema } of this.#engine.places)
      for (const { service } of await ask<{ service: string }>(url, `select service from ${schema}.ticket`))
        counts.set(service, (counts.get(service) ?? 0) + 1)
    return this.#works.flatMap(({ name, isAcknowledged }) => {
      const times = counts.get(name) ?? 0
      if (times > 1) return [`${name} was made ${times} times`]
      return isAcknowledged && times === 0 ? [`${name} was acknowledged and is lost`] : []
    })
  }

  /** The instant at which the event of a ticket's creation arrived. */
  arrivalOf(ticket: string): number | undefined {
    return this.receiver.arrivals.find(
      ({ body, status }) => status === 200 && JSON.parse(body).data.ticket?.id === ticket
    )?.at
  }

  async readiness(): Promise<string> {
    const response = await fetch(`${this.node.base}/readyz`)
    const { unavailable = [] } = (await response.json()) as { readonly unavailable?: ReadonlyArray<string> }
    return `${response.status} ${[...unavailable].sort()}`
  }

  /** Waits for a condition, and returns the time that it took. */
  async until(condition: string, holds: () => Promise<boolean> | boolean): Promise<number> {
    const began = Date.now()
    for (; !(await holds()); await pause(100))
      if (Date.now() > began + TIMEOUT_MS)
        throw new Error(`${condition}: this did not happen within ${TIMEOUT_MS / 1000} s. ${this.node.output}`)
    return Date.now() - began
  }

  async end(): Promise<void> {
    this.node.kill()
    this.receiver.end()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const median = (values: ReadonlyArray<number>): number => Math.round(quantile(values, 0.5))

/** Measures the latencies of creates in some shops, and of the deliveries of their events. */
const measured = async (service: Service, shops: ReadonlyArray<number>) => {
  const [creates, deliveries]: [Array<number>, Array<number>] = [[], []]
  const refused: Array<number> = []
  for (let i = 0; i < MEASURED; i++) {
    const { status, ticket, took_ms } = await service.create(shops[i % shops.length]!)
    const at = Date.now()
    if (status !== 201) refused.push(status)
    else {
      creates.push(took_ms)
      await service.until("the event of a served shop arrives", () => service.arrivalOf(ticket) !== undefined)
      deliveries.push(Math.max(0, service.arrivalOf(ticket)! - at))
    }
  }
  return { create_ms: median(creates), delivery_ms: median(deliveries), refused }
}

/**
 * Creates a ticket in each shop, and returns the violations: the service may refuse only shops of unavailable cells.
 */
const createEverywhere = async (service: Service, unavailable: ReadonlyArray<string>) => {
  const broken: Array<string> = []
  const served: Array<string> = []
  for (const [index, cell] of service.cells.entries()) {
    const { status, retry_after, ticket } = await service.create(index)
    if (!unavailable.includes(cell) && status !== 201)
      broken.push(`a shop of the cell ${cell} got ${status} while ${unavailable} was unavailable`)
    else if (unavailable.includes(cell) && (status !== 503 || !(retry_after > 0)))
      broken.push(`a shop of the cell ${cell}, which is unavailable, got ${status}, Retry-After ${retry_after}`)
    else if (status === 201) served.push(ticket)
  }
  await service.until("the events of served shops arrive", () =>
    served.every((id) => service.arrivalOf(id) !== undefined)
  )
  return broken
}

/**
 * Starts to create tickets without a pause, each creator until a create is refused. Returns when some creates were
 * acknowledged and others are in flight.
 */
const beginCreates = async (service: Service, shops: ReadonlyArray<number>) => {
  let [acknowledged, refused_ms] = [0, 0]
  let onEnough = (): void => undefined
  const enough = new Promise<void>((resolve) => {
    onEnough = resolve
  })
  const creator = async (i: number): Promise<ReadonlyArray<string>> => {
    for (let n = 0; n < CAUGHT.each; n++) {
      const { status, retry_after, took_ms } = await service.create(shops[i % shops.length]!)
      refused_ms = Math.max(refused_ms, status === 201 ? 0 : Math.round(took_ms))
      if (status === 201 && ++acknowledged >= CAUGHT.acknowledged) onEnough()
      if (status !== 201) return status === 503 && retry_after > 0 ? [] : [`a create that was on its way got ${status}`]
    }
    return []
  }
  const creators = Array.from({ length: shops.length === 0 ? 0 : CAUGHT.at_once }, (_, i) => creator(i))
  const all = Promise.all(creators)
  await Promise.race([enough, all])
  return { end: () => all.then((broken) => ({ broken: broken.flat(), refused_ms })) }
}

/**
 * Sends many requests to shops of unavailable cells, and measures the longest wait for a 503 and the largest number of
 * connections.
 */
const strand = async (service: Service, server: Server, shops: ReadonlyArray<number>, broken: Array<string>) => {
  let [isOver, refused_ms, connections] = [false, 0, 0]
  const caller = async (index: number) => {
    while (!isOver) {
      const { status, retry_after, took_ms } = await service.create(index)
      refused_ms = Math.max(refused_ms, Math.round(took_ms))
      if (status !== 503 || !(retry_after > 0))
        broken.push(
          `one of many requests to the cell ${service.cells[index]} got ${status}, Retry-After ${retry_after}`
        )
      await pause(STRANDED.every_ms)
    }
  }
  const { port } = new URL(server.url)
  const count = async () => {
    for (; !isOver; await pause(50)) connections = Math.max(connections, connectionsTo(service.node.pid!, Number(port)))
  }
  const callers = Array.from({ length: STRANDED.at_once }, (_, i) => caller(shops[i % shops.length]!))
  const counter = count()
  return {
    end: async () => {
      isOver = true
      await Promise.all([...callers, counter])
      return { refused_ms, connections }
    }
  }
}

/** Makes a server unavailable while the service is used, and brings it back. */
const outage = async (service: Service, server: Server, absence: Absence, isHome: boolean): Promise<Outage> => {
  const { cells } = server
  const broken: Array<string> = []
  const others = service.shopsOf((cell) => !cells.includes(cell))
  const stranded = service.shopsOf((cell) => cells.includes(cell))
  const before = await measured(service, others)
  await absence.prepare?.()
  const caught = await beginCreates(service, stranded)
  const bringBack = absence.begin(server)
  let noticed_ms = 0
  let figures = { refused_ms: 0, connections: 0 }
  let meanwhile = before
  try {
    const expected = `200 ${[...cells].sort()}`
    noticed_ms = await service.until(`/readyz is ${expected}`, async () => (await service.readiness()) === expected)
    broken.push(...(await createEverywhere(service, cells)))
    // Without the directory the service cannot know whether a key exists. It must not refuse the key as revoked.
    if (isHome) {
      const { status } = await service.createByStranger()
      if (status !== 503) broken.push(`an unknown key got ${status} while the directory was unavailable`)
    }
    // A server without shops, such as the coordinator of Citus, has no requests to refuse.
    const stranding = stranded.length === 0 ? undefined : await strand(service, server, stranded, broken)
    const [now] = await Promise.all([
      measured(service, others),
      pause(stranding === undefined ? 0 : STRANDED.for_ms[absence.name])
    ])
    meanwhile = now
    if (stranding !== undefined) figures = await stranding.end()
    broken.push(...now.refused.map((status) => `a shop of another cell got ${status} while ${cells} was unavailable`))
  } finally {
    await bringBack()
  }
  const returned = Date.now()
  await service.until("/readyz is as before", async () => (await service.readiness()) === "200 ")
  for (const [index, cell] of service.cells.entries())
    await service.until(`the cell ${cell} serves again`, async () => (await service.create(index)).status === 201)
  const returned_ms = Date.now() - returned
  const onTheirWay = await caught.end()
  broken.push(...(await createEverywhere(service, [])), ...onTheirWay.broken, ...(await service.lostOrDoubled()))
  if (figures.refused_ms > REFUSED_WITHIN_MS) broken.push(`a 503 took ${figures.refused_ms} ms`)
  if (onTheirWay.refused_ms > ON_ITS_WAY_WITHIN_MS)
    broken.push(`a 503 to a create that was on its way took ${onTheirWay.refused_ms} ms`)
  if (figures.connections > MAX_CONNECTIONS) broken.push(`${figures.connections} connections were open`)
  for (const what of ["create_ms", "delivery_ms"] as const)
    if (meanwhile[what] > 2 * before[what] + 1_000)
      broken.push(`${what} in other cells rose from ${before[what]} to ${meanwhile[what]}`)
  return {
    absence: absence.name,
    cells: [...cells].sort().join(" "),
    noticed_ms,
    ...figures,
    on_its_way_ms: onTheirWay.refused_ms,
    create_ms: `${before.create_ms}, ${meanwhile.create_ms}`,
    delivery_ms: `${before.delivery_ms}, ${meanwhile.delivery_ms}`,
    returned_ms,
    broken
  }
}

/**
 * Makes each server unavailable once in each way, the home cell's server last, and available again, while a node serves
 * over HTTP. Only the shops of its cells may get 503, which must come quickly, with Retry-After, over a bounded number
 * of connections. `/readyz` must stay ready and name the cells, the other shops must be as fast as before, and all
 * shops must be served afterwards. No acknowledged ticket may be lost or created twice.
 */
export const outages = async (engine: Engine, absences: ReadonlyArray<Absence>): Promise<ReadonlyArray<Outage>> => {
  const service = new Service(engine, await freePort())
  try {
    await service.open()
    const broken = await createEverywhere(service, [])
    if (broken.length > 0) throw new Error(broken.join("; "))
    const results: Array<Outage> = []
    for (const absence of absences)
      for (const server of [...engine.others, engine.home])
        results.push(await outage(service, server, absence, server === engine.home))
    const { move } = engine
    if (move !== undefined) results.push(await outage(service, move.server, killedAfter(move.run), false))
    return results
  } finally {
    await service.end()
  }
}
