import { randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import { Load, Receiver } from "../torture/Load.js"
import { freePort, ServiceNode, Wire } from "../torture/Servers.js"
import { ask, type Engine } from "./Engine.js"

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** The longest wait for a state that must come. */
const PATIENCE_MS = 90_000

/** A service over the cells of an engine, with a shop in each cell that takes some. */
class Service {
  readonly node: ServiceNode
  readonly load: Load
  readonly receiver = new Receiver(() => 0)
  /** The cell of each shop. */
  readonly cells: Array<string> = []
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
    if (unready !== undefined) throw new Error(`${unready} ${this.node.said}`)
    const { places } = this.#engine
    // New shops go to the emptiest cell: each of them gets one.
    await this.load.open(places.length, this.receiver.url)
    for (const { id } of this.load.shops)
      for (const { cell, url, schema } of places)
        if ((await ask(url, `select from ${schema}.shop where id = '${id}'`)).length > 0) this.cells.push(cell)
  }

  create(no: number): Promise<Response> {
    return this.#post(this.load.shops[no]!.keys[0]!)
  }

  /** A create under a key that nobody has. */
  createByStranger(): Promise<Response> {
    return this.#post(`wk_test_${"x".repeat(43)}`)
  }

  #post(key: string): Promise<Response> {
    return fetch(`${this.node.base}/v1/tickets`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
        authorization: `Bearer ${key}`
      },
      body: JSON.stringify({ service: "Hem" })
    })
  }

  hasArrived(ticket: string): boolean {
    return this.receiver.arrivals.some(
      ({ body, status }) => status === 200 && JSON.parse(body).data.ticket?.id === ticket
    )
  }

  async readiness(): Promise<string> {
    const response = await fetch(`${this.node.base}/readyz`)
    const { away = [] } = (await response.json()) as { readonly away?: ReadonlyArray<string> }
    return `${response.status} ${[...away].sort()}`
  }

  async until(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
    for (const last = Date.now() + PATIENCE_MS; !(await isSo()); await pause(100))
      if (Date.now() > last) throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s. ${this.node.said}`)
  }

  async end(): Promise<void> {
    this.node.kill()
    this.receiver.end()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Creates a ticket in each shop, and collects what is wrong: only the shops of cells that are away may be refused. */
const createEverywhere = async (service: Service, away: ReadonlyArray<string>) => {
  const broken: Array<string> = []
  const served: Array<string> = []
  for (const [no, cell] of service.cells.entries()) {
    const response = await service.create(no)
    const retryAfter = Number(response.headers.get("retry-after"))
    if (!away.includes(cell) && response.status !== 201)
      broken.push(`a shop of the cell ${cell} got ${response.status} while ${away} was away`)
    else if (away.includes(cell) && (response.status !== 503 || !(retryAfter > 0)))
      broken.push(`a shop of the cell ${cell}, which is away, got ${response.status}, Retry-After ${retryAfter}`)
    else if (response.status === 201)
      served.push(((await response.json()) as { readonly data: { readonly id: string } }).data.id)
  }
  await service.until("the events of served shops arrive", () => served.every((id) => service.hasArrived(id)))
  return broken
}

/**
 * Kills each server once while a node serves over HTTP, the home cell's last, and starts it again. Returns what was wrong: the shops of its
 * cells alone get 503 with Retry-After, `/readyz` is ready and names its cells, the others are served and delivered, and all return with it.
 */
export const outages = async (engine: Engine): Promise<ReadonlyArray<string>> => {
  const service = new Service(engine, await freePort())
  const broken: Array<string> = []
  try {
    await service.open()
    broken.push(...(await createEverywhere(service, [])))
    for (const server of [...engine.others, engine.home]) {
      const { cells } = server
      server.kill()
      const expected = `200 ${[...cells].sort()}`
      await service.until(`/readyz is ${expected}`, async () => (await service.readiness()) === expected)
      broken.push(...(await createEverywhere(service, cells)))
      if (server === engine.home) {
        // Whether the key exists is not known: its owner must not take it for revoked.
        const { status } = await service.createByStranger()
        if (status !== 503) broken.push(`an unknown key got ${status} while the directory was away`)
      }
      await server.start()
      await service.until("/readyz is as before", async () => (await service.readiness()) === "200 ")
      for (const no of service.cells.keys())
        await service.until(`the cell ${service.cells[no]} serves again`, async () => (await service.create(no)).ok)
      broken.push(...(await createEverywhere(service, [])))
    }
  } finally {
    await service.end()
  }
  return broken
}
