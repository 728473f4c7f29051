import { ChildProcess } from "node:child_process"
import { Server, Socket } from "node:net"
import { afterAll, expect } from "vitest"
import { endFile } from "./endOfFile.js"

// Files share a worker (`isolate: false`), so what one leaves running disturbs those after it. This runs in each file, and its
// `afterAll` after the file's own, because hooks of a file run in the reverse of their order.

/** How long what was closed may take until it is: a process that got a signal, or a socket whose other end answers. */
const PATIENCE_MS = 3_000
const STEP_MS = 10

const { _getActiveHandles: activeHandles } = process as typeof process & {
  readonly _getActiveHandles: () => ReadonlyArray<object>
}

type Handle = Server | Socket | ChildProcess

/** Not the pipes to Vitest, nor a connection that is closed already. */
const isOpen = (handle: object): handle is Handle =>
  handle instanceof Server ||
  handle instanceof ChildProcess ||
  (handle instanceof Socket && handle.remotePort !== undefined && !handle.destroyed)

/** Servers, connections and processes that keep this worker alive. Connections that `fetch` keeps for its next request do not. */
const handles = (): ReadonlyArray<Handle> => activeHandles.call(process).filter(isOpen)

const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length

const nameOf = (handle: Handle): string => {
  if (handle instanceof ChildProcess) return `the process ${handle.pid} (${handle.spawnargs.slice(0, 4).join(" ")})`
  if (handle instanceof Server) return `a server that listens at ${JSON.stringify(handle.address())}`
  return `a connection from port ${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`
}

const before = new Set<object>(handles())
const timersBefore = timers()

const left = (): ReadonlyArray<string> => {
  const more = timers() - timersBefore
  return [
    ...handles()
      .filter((handle) => !before.has(handle))
      .map(nameOf),
    ...(more > 0 ? [`${more} more running timers than before`] : [])
  ]
}

afterAll(async () => {
  await endFile()
  for (let waited = 0; left().length > 0 && waited < PATIENCE_MS; waited += STEP_MS)
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  const found = left()
  if (found.length === 0) return
  throw new Error(
    `${expect.getState().testPath} leaves behind: ${found.slice(0, 8).join("; ")}. Close it in an afterAll.`
  )
}, 10 * PATIENCE_MS)
