import { randomInt } from "node:crypto"
import { createServer } from "node:net"

/** Below the ports that the system gives to connections, so that none takes one between here and the start of a server. */
const PORTS = { from: 20_000, to: 32_000 } as const

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/** The first of some consecutive ports on which no process listens. */
export const freePort = async (inRow = 1): Promise<number> => {
  for (;;) {
    const first = randomInt(PORTS.from, PORTS.to - inRow)
    const free = await Promise.all(Array.from({ length: inRow }, (_, n) => canListen(first + n)))
    if (free.every((one) => one)) return first
  }
}
