import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { Limits } from "@workshop/core"

/** How long a client that was cut off may take to read its answer, in milliseconds of real time. */
const READING_MS = 1_000

/** Reads no more from a client that sends without an end. What was answered still leaves; closed at once, it might be lost. */
export const closeConnection = (socket: Socket): void => {
  socket.pause()
  socket.end()
  socket.setTimeout(READING_MS, () => socket.destroy())
}

/** Reads what is left of a body that nobody wants, within its bound, so that the connection can go on or end in order. */
export const discardBody = (request: IncomingMessage): void => {
  let left: number = Limits.unwanted_body_bytes
  const onData = (chunk: Buffer) => {
    left -= chunk.length
    if (left >= 0) return
    request.off("data", onData).pause()
    closeConnection(request.socket)
  }
  request.on("data", onData)
  // Now, and not a tick later: node would take a body that nobody reads for its own to drop, without a bound.
  request.read(0)
}
