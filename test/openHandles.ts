import { ChildProcess } from "node:child_process"
import { Server, Socket } from "node:net"
import { afterAll, expect } from "vitest"
import { endFile } from "./endOfFile.js"

// Files share a worker (`isolate: false`), so a server that one file leaves running would disturb the next ones. Vitest
// runs this module before each file. Its `afterAll` runs after those of the file, because hooks run in reverse order.

/**
 * The longest wait until closed handles are gone. On a busy machine a process needs time to end after a signal, and
 * `fetch` and pools keep idle sockets for ten seconds.
 */
const TIMEOUT_MS = 20_000
const STEP_MS = 10

const { _getActiveHandles: activeHandles } = process as typeof process & {
  readonly _getActiveHandles: () => ReadonlyArray<object>
}

type Handle = Server | Socket | ChildProcess

/** True for servers, processes and open connections; false for the pipes to Vitest, which have no port. */
const isOpen = (handle: object): handle is Handle =>
  handle instanceof Server ||
  handle instanceof ChildProcess ||
  (handle instanceof Socket && handle.remotePort !== undefined && !handle.destroyed)

/** The servers, connections and processes that keep this worker alive. The idle connections of `fetch` do not. */
const handles = (): ReadonlyArray<Handle> => activeHandles.call(process).filter(isOpen)

const nameOf = (handle: Handle): string => {
  if (handle instanceof ChildProcess) return `the process ${handle.pid} (${handle.spawnargs.slice(0, 4).join(" ")})`
  if (handle instanceof Server) return `a server that listens at ${JSON.stringify(handle.address())}`
  return `a connection from port ${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`
}

const before = new Set<object>(handles())

const left = (): ReadonlyArray<string> =>
  handles()
    .filter((handle) => !before.has(handle))
    .map(nameOf)

afterAll(async () => {
  await endFile()
  for (let waited = 0; left().length > 0 && waited < TIMEOUT_MS; waited += STEP_MS)
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
  const found = left()
  if (found.length === 0) return
  throw new Error(
    `${expect.getState().testPath} leaves behind: ${found.slice(0, 8).join("; ")}. Close it in an afterAll.`
  )
}, 3 * TIMEOUT_MS)
