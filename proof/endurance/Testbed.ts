import { rmSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { freePort } from "../../test/freePort.js"
import { Receiver } from "../torture/Load.js"
import { migrateDatabase, Postgres, ServiceNode, Wire } from "../torture/Servers.js"
import { Generator } from "./Generator.js"

/** A node that is connected directly to its database, and the process that sends requests to the node. */
export interface Testbed {
  readonly postgres: Postgres
  readonly node: ServiceNode
  readonly generator: Generator
}

/** Starts a node with its own database and shops, runs `act` with them, and then stops and removes all of them. */
export const withTestbed = async <A>(shops: number, act: (testbed: Testbed) => Promise<A>): Promise<A> => {
  const postgres = await Postgres.start()
  const receiver = new Receiver(() => 0)
  receiver.isWell = true
  await receiver.open()
  migrateDatabase(postgres.url)
  const wire = new Wire(() => postgres.port)
  const node = new ServiceNode("one", wire, await freePort(), postgres.folder, [], postgres.url)
  const generator = new Generator()
  const forget = setInterval(() => receiver.arrivals.splice(0), 10_000)
  try {
    node.start()
    const why = await node.unready()
    if (why !== undefined) throw new Error(`${why}\n${node.output}`)
    await generator.prepare(node.port, shops, receiver.url)
    return await act({ postgres, node, generator })
  } finally {
    clearInterval(forget)
    generator.end()
    node.kill()
    receiver.end()
    await pause(200)
    postgres.end()
    rmSync(postgres.folder, { recursive: true, force: true })
  }
}
