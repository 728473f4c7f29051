import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import type { TestProject } from "vitest/node"
import type { TestCluster } from "./TestCluster.js"

declare module "vitest" {
  interface ProvidedContext {
    /** Where the workers ask for databases: a port of 127.0.0.1. */
    readonly clusterDoor: number
  }
}

/** Opens a door at which suites ask for databases; the cluster behind it starts when the first one asks, once a run. */
export default async (project: TestProject) => {
  let cluster: Promise<TestCluster> | undefined
  const answer = async (request: IncomingMessage): Promise<string> => {
    // Loaded late as well: a run that needs no database should not wait for Effect twice.
    cluster ??= import("./TestCluster.js").then(({ openTestCluster }) => openTestCluster())
    const { create, drop } = await cluster
    if (request.method === "POST") return await create()
    await drop(await text(request))
    return ""
  }
  const door = createServer((request, response) => {
    answer(request).then(
      (url) => response.end(url),
      (error) => response.writeHead(500).end(String(error))
    )
  })
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve))
  project.provide("clusterDoor", (door.address() as AddressInfo).port)
  return async () => {
    door.closeAllConnections()
    door.close()
    const opened = await cluster?.catch(() => undefined)
    await opened?.close()
  }
}
