// Hostile clients. Each has its own connection, and reopens it when the server closes it.
import { connect, type Socket } from "node:net"
import { setPriority } from "node:os"
import { answerParent } from "../deliver/Child.js"
import type { AttackCounts, AttackOrder } from "./Attack.js"

const PAUSE_MS = 100
const CHUNK = `10000\r\n${"x".repeat(0x10000)}\r\n`

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

const METRICS = get("/metrics").repeat(1_500)
const BUNDLE = get("/docs/rapidoc-min.js").repeat(8)
const HEAD = `GET /healthz HTTP/1.1\r\nX: ${"x".repeat(8_000)}`

/** Writes a text repeatedly, whenever the connection accepts more. */
const pour = (socket: Socket, text: string): void => {
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  }
  socket.on("drain", more)
  more()
}

/** The attack of each kind on a connection. */
const kinds: Readonly<Record<string, (socket: Socket) => void>> = {
  pipelining: (socket) => pour(socket.resume(), METRICS),
  unread: (socket) => {
    socket.pause()
    pour(socket, BUNDLE)
  },
  slow: (socket) => {
    let at = 0
    const drip = setInterval(() => socket.write(HEAD[at++ % HEAD.length]!), 500)
    socket.once("close", () => clearInterval(drip))
  },
  "half-open": () => undefined,
  endless: (socket) => {
    socket.resume()
    socket.write("POST /v1/tickets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    pour(socket, CHUNK)
  }
}

let isOn = false
let reopened = 0
let sent = 0
let read = 0
const open = new Set<Socket>()

const attack = (port: number, n: number): void => {
  if (!isOn) return
  const act = Object.values(kinds)[n % Object.keys(kinds).length]!
  // The attackers use 50 addresses, which the honest clients do not use.
  const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.1.${1 + (n % 50)}` })
  open.add(socket)
  socket.on("error", () => undefined)
  socket.once("connect", () => act(socket))
  socket.once("close", () => {
    open.delete(socket)
    sent += socket.bytesWritten
    read += socket.bytesRead
    reopened++
    setTimeout(() => attack(port, n), PAUSE_MS)
  })
}

answerParent({}, async ({ port, connections, nice }: AttackOrder): Promise<AttackCounts> => {
  setPriority(nice)
  isOn = connections > 0
  const sum = (read: (socket: Socket) => number) => [...open].reduce((sum, socket) => sum + read(socket), 0)
  const toll = { reopened, sent: sent + sum((one) => one.bytesWritten), read: read + sum((one) => one.bytesRead) }
  if (!isOn) for (const socket of open) socket.destroy()
  for (let n = 0; n < connections; n++) attack(port, n)
  return toll
})
