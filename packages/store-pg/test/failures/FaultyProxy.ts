import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

interface Pair {
  readonly client: Socket
  readonly server: Socket
  isDead: boolean
}

/**
 * The proxy's action on a client's packet: `pass` forwards it, `drop` closes the connection instead of forwarding it,
 * and `mute` forwards it and closes the connection when the database responds.
 */
export type Verdict = "pass" | "drop" | "mute"

/** A TCP proxy in front of a database that simulates network failures. */
export class FaultyProxy {
  /** Chooses the action for a packet that a client sends. */
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

  /** Stops forwarding on all connections, old and new. They stay open, so neither side notices. */
  pause(): void {
    this.#isPaused = true
  }

  /**
   * Forwards on new connections again. The connections from before stay open, but the proxy never forwards on them
   * again.
   */
  resume(): void {
    for (const pair of this.#pairs) pair.isDead = true
    this.#isPaused = false
  }

  /** Closes all connections. */
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

  /** Closes all connections and refuses new ones. */
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

/** Opens a proxy in front of a database. The end of the scope closes it. */
export const openFaultyProxy = (url: string): Effect.Effect<FaultyProxy, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const proxy = new FaultyProxy(url)
      await proxy.listen()
      return proxy
    }),
    (proxy) => Effect.promise(() => proxy.close().catch(() => undefined))
  )
