import { randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import { beforeAll, describe, expect, it } from "vitest"
import { build } from "../../packages/cli/test/Workshop.js"
import { Load, Receiver } from "../torture/Load.js"
import { canRun, freePort, ServiceNode, Wire } from "../torture/Servers.js"
import { plain } from "./Engine.js"
import { kills } from "./kills.js"

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A service on two servers, and a shop in a cell of each, whose events a receiver gets. */
const serving = async () => {
  const engine = await plain()
  const wire = new Wire(() => Number(new URL(engine.url).port))
  const receiver = new Receiver(() => 0)
  await Promise.all([wire.open(), receiver.open()])
  const cells = engine.cells.map(({ name, url }) => (url === undefined ? name : `${name}=${url}`)).join(" ")
  const folder = `/tmp/workshop-kills-${process.pid}`
  const node = new ServiceNode("one", wire, await freePort(), folder, ["--cells", cells])
  node.start()
  const unready = await node.unready()
  if (unready !== undefined) throw new Error(`${unready} ${node.said}`)
  const load = new Load([node.base], () => 0)
  // New shops go to the emptiest cell: each of the three gets one.
  await load.open(3, receiver.url)
  const end = async () => {
    node.kill()
    receiver.end()
    wire.end()
    await engine.end()
    rmSync(folder, { recursive: true, force: true })
  }
  return { engine, node, load, receiver, end }
}

describe.skipIf(!canRun)("cells on real servers that are killed (docs/scaling.md)", () => {
  beforeAll(build, 120_000)

  it("lose nothing that was acknowledged and make nothing twice, whatever was killed around a commit", async () => {
    const engine = await plain()
    try {
      const results = await kills({ engine, count: 2, seed: 1, say: () => undefined })
      for (const { lost, twice, acknowledged } of results) {
        expect([lost, twice]).toEqual([0, 0])
        expect(acknowledged).toBeGreaterThan(0)
      }
      expect(results.map(({ target }) => target)).toEqual(["connection", "coordinator", "worker"])
    } finally {
      await engine.end()
    }
  }, 300_000)

  it("one that is killed takes only its shops away, with 503 and Retry-After, and they return with it", async () => {
    const { engine, node, load, receiver, end } = await serving()
    const create = (no: number) =>
      fetch(`${node.base}/v1/tickets`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "idempotency-key": randomUUID(),
          authorization: `Bearer ${load.shops[no]!.keys[0]}`
        },
        body: JSON.stringify({ service: "Hem" })
      })
    const until = async (what: () => Promise<boolean>) => {
      for (const last = Date.now() + 60_000; !(await what()); await pause(100))
        if (Date.now() > last) throw new Error(`It did not come to that: ${node.said}`)
    }
    const readiness = async () => (await fetch(`${node.base}/readyz`)).json()
    try {
      const [east] = engine.others
      for (const no of [0, 1, 2]) expect((await create(no)).status).toBe(201)
      east!.kill()
      await until(async () => (await readiness()).away?.join() === "east")
      const answers = [await create(0), await create(1), await create(2)]
      const gone = answers.filter(({ status }) => status === 503)
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 503])
      expect(Number(gone[0]!.headers.get("retry-after"))).toBeGreaterThan(0)
      const served = await Promise.all(
        answers.filter(({ status }) => status === 201).map(async (one) => (await one.json()).data.id)
      )
      // What the others raise is delivered on.
      const arrived = (id: string) =>
        receiver.arrivals.some(({ body, status }) => status === 200 && JSON.parse(body).data.ticket?.id === id)
      await until(async () => served.every(arrived))
      await east!.start()
      await until(async () => (await readiness()).away === undefined)
      const no = answers.findIndex(({ status }) => status === 503)
      await until(async () => (await create(no)).status === 201)
    } finally {
      await end()
    }
  }, 300_000)
})
