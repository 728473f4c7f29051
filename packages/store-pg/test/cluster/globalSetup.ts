import { execFile } from "node:child_process"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { promisify } from "node:util"
import type { BrowserServer } from "playwright-core"
import type { TestProject } from "vitest/node"
import { chromiumPath } from "../../../../scripts/chromium.mjs"
import type { TestCluster } from "./TestCluster.js"

declare module "vitest" {
  interface ProvidedContext {
    /**
     * The port on 127.0.0.1 of the server from which workers request databases, a build of the program and a browser.
     */
    readonly clusterDoor: number
  }
}

/**
 * A server that shares one database cluster, one build and one browser among all suites of a run. The first request
 * starts each.
 */
interface Door {
  readonly port: number
  readonly close: () => Promise<void>
  /** The number of Vitest projects that use this server. */
  users: number
}

const open = async (): Promise<Door> => {
  let cluster: Promise<TestCluster> | undefined
  let built: Promise<unknown> | undefined
  let browser: Promise<BrowserServer> | undefined
  const answer = async (request: IncomingMessage): Promise<string> => {
    if (request.url === "/build") {
      built ??= promisify(execFile)("npm", ["run", "--silent", "build:cli"])
      await built
      return ""
    }
    if (request.url === "/browser") {
      browser ??= import("playwright-core").then(({ chromium }) =>
        chromium.launchServer({ executablePath: chromiumPath() ?? "", args: ["--no-sandbox"] })
      )
      return (await browser).wsEndpoint()
    }
    // Imported only here, because a run that needs no database need not load Effect in this process.
    cluster ??= import("./TestCluster.js").then(({ openTestCluster }) => openTestCluster())
    const { create, drop } = await cluster
    const named = await text(request)
    if (request.method === "POST") return await create(named || undefined)
    await drop(named)
    return ""
  }
  const server = createServer((request, response) => {
    // A kept-alive connection may close just as a worker sends its next request.
    response.shouldKeepAlive = false
    answer(request).then(
      (url) => response.end(url),
      (error) => response.writeHead(500).end(String(error))
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = async () => {
    server.closeAllConnections()
    server.close()
    for (const begun of [cluster, browser]) await (await begun?.catch(() => undefined))?.close()
  }
  return { port: (server.address() as AddressInfo).port, close, users: 0 }
}

/** Vitest loads this module once per project, so the server is stored in the global object. */
const run = globalThis as typeof globalThis & { workshopTestDoor?: Promise<Door> | undefined }

/** Starts the server for the first project, and stops it after the last. */
export default async (project: TestProject) => {
  run.workshopTestDoor ??= open()
  const door = await run.workshopTestDoor
  door.users++
  project.provide("clusterDoor", door.port)
  return async () => {
    door.users--
    if (door.users > 0) return
    run.workshopTestDoor = undefined
    await door.close()
  }
}
