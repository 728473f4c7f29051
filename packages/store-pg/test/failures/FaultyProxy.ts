import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

interface Pair {
  readonly client: Socket
  readonly server: Socket
  isDead: boolean
}

/** The proxy's action on a packet to the database: `pass` forwards it; `drop` breaks the connections before it arrives; `mute` forwards it, and closes the client's connection in place of the response. */
export type Verdict = "pass" | "drop" | "mute"

/** A TCP proxy before the database that fails as networks do. */
export class FaultyProxy {
  /** Judges what clients send. */
  judge: (sent: string) => Verdict = () => "pass"
  readonly #server: Server
  readonly #target: URL
  readonly #pairs = new Set<Pair>()
  #isPaused = false
  #port = 0

  constructor(target: string) {
    this.#target = new URL(target)
    this.#server = createServer((client) => this.#pair(client))
  }

  get url(): string {
    const url = new URL(this.#target)
    url.host = `127.0.0.1:${this.#port}`
    return url.href
  }

  /** From now on new connections do not reach the database, and nothing is forwarded on the old ones. All stay open, so neither side notices. */
  pause(): void {
    this.#isPaused = true
  }

  /** New connections reach the database again. Connections from before stay open, and nothing is forwarded on them again. */
  resume(): void {
    for (const pair of this.#pairs) pair.isDead = true
    this.#isPaused = false
  }

  /** Breaks all connections. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy()
      server.destroy()
    }
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1")
    await once(this.#server, "listening")
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Refuses new connections as well. */
  async close(): Promise<void> {
    this.#server.close()
    this.cut()
    await once(this.#server, "close")
  }

  #pair(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname)
    const pair: Pair = { client, server, isDead: this.#isPaused }
    this.#pairs.add(pair)
    const isSilent = () => pair.isDead || this.#isPaused
    client.on("data", (data) => {
      if (isSilent()) return
      const verdict = this.judge(data.toString("latin1"))
      if (verdict === "drop") client.destroy()
      else server.write(data)
      if (verdict === "mute") server.removeAllListeners("data").once("data", () => client.destroy())
    })
    server.on("data", (data) => {
      if (!isSilent()) client.write(data)
    })
    const ended = () => {
      if (client.destroyed && server.destroyed) this.#pairs.delete(pair)
      if (pair.isDead) return
      client.destroy()
      server.destroy()
    }
    client.on("error", () => {}).on("close", ended)
    server.on("error", () => {}).on("close", ended)
  }
}

/** A proxy before a database, which the end of the scope closes. */
export const openFaultyProxy = (url: string): Effect.Effect<FaultyProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const proxy = new FaultyProxy(url)
      await proxy.listen()
      return proxy
    }),
    (proxy) => Effect.promise(() => proxy.close().catch(() => undefined))
  )
