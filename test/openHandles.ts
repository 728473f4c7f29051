import { ChildProcess } from "node:child_process"
import { Server, Socket } from "node:net"
import { afterAll, expect } from "vitest"
import { endFile } from "./endOfFile.js"

// Files share a worker (`isolate: false`), so what one leaves running disturbs those after it. This runs in each file, and its
// `afterAll` after the file's own, because hooks of a file run in the reverse of their order.

/**
 * How long what was closed may take until it is, on a busy machine too: a process that got a signal, a socket whose other end answers, or
 * one that `fetch` or a pool keeps for ten seconds.
 */
const TIMEOUT_MS = 20_000
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
