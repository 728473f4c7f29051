import { randomInt } from "node:crypto"
import { createServer } from "node:net"

/**
 * These ports are below those that the system assigns to outgoing connections, so that no connection can take a port
 * before the server listens on it.
 */
const PORTS = { from: 20_000, to: 32_000 } as const

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/** The first of `inRow` consecutive ports on which no process listens. */
export const freePort = async (inRow = 1): Promise<number> => {
  for (;;) {
    const first = randomInt(PORTS.from, PORTS.to - inRow)
    const free = await Promise.all(Array.from({ length: inRow }, (_, n) => canListen(first + n)))
    if (free.every((one) => one)) return first
  }
}
