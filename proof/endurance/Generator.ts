import { type ChildProcess, fork } from "node:child_process"
import { Connections } from "./Connections.js"
import { MixedLoad } from "./MixedLoad.js"

/** A command to the generator. */
export type Order =
  | { readonly do: "prepare"; readonly port: number; readonly shops: number; readonly hook: string }
  /** A closed loop: each of `clients` clients sends its next request after it has the response to the last one. */
  | { readonly do: "closed"; readonly clients: number }
  /**
   * An open loop: `rate` requests a second, independent of the responses. `greedy` is the share of one greedy client.
   */
  | { readonly do: "steady"; readonly rate: number; readonly greedy: number }
  | { readonly do: "rest" }

/** The measurements of the generator in one second. */
export interface Second {
  /** The number of requests that were due. */
  readonly due: number
  /** The latencies by outcome, in milliseconds from the instant at which each request was due. */
  readonly waits: Readonly<Record<string, ReadonlyArray<number>>>
  /** The longest delay from the instant at which a request was due until it was sent. */
  readonly lag_ms: number
  readonly connections: number
  readonly waiting: number
  /** The number of responses without a request. */
  readonly unasked: number
  /** Descriptions of the first outcomes that a valid request must not have. */
  readonly unexpected: ReadonlyArray<string>
}

const TICK_MS = 2

/** The program of the generator's process: runs commands, and reports measurements every second. */
export const generate = (): void => {
  const say = (message: unknown) => void process.send?.(message)
  let connections = new Connections(0)
  let load = new MixedLoad(connections)
  let stop = () => {}
  let due = 0
  let lag_ms = 0
  let waits: Record<string, Array<number>> = {}
  let unexpected: Array<string> = []

  const run = async (
    began_ms: number,
    request: Promise<{ outcome: number | string; unexpected: string | undefined }>
  ) => {
    const one = await request
    const took_ms = Math.round((performance.now() - began_ms) * 10) / 10
    const outcome = String(one.outcome)
    waits[outcome] ??= []
    waits[outcome].push(took_ms)
    if (one.unexpected !== undefined && unexpected.length < 5) unexpected.push(one.unexpected)
  }
  const send = (due_ms: number, isGreedy: boolean) => {
    due++
    return run(due_ms, isGreedy ? load.greedy(due_ms) : load.next(due_ms))
  }
  const closed = (clients: number) => {
    let isOn = true
    const client = async () => {
      while (isOn) await send(performance.now(), false)
    }
    for (let index = 0; index < clients; index++) void client()
    stop = () => {
      isOn = false
    }
  }
  const steady = (rate: number, greedy: number) => {
    const began_ms = performance.now()
    let sent = 0
    const timer = setInterval(() => {
      const now = performance.now()
      // The number is fixed before the loop, because the loop would otherwise never end if the process cannot send that
      // fast.
      const wanted = ((now - began_ms) / 1000) * rate
      if (sent < wanted) lag_ms = Math.max(lag_ms, now - (began_ms + (sent / rate) * 1000))
      for (; sent < wanted; sent++) void send(began_ms + (sent / rate) * 1000, Math.random() < greedy)
    }, TICK_MS)
    stop = () => clearInterval(timer)
  }
  const prepare = async (port: number, shops: number, hook: string) => {
    connections = new Connections(port)
    load = new MixedLoad(connections)
    await load.prepare(shops, hook)
    say("prepared")
  }
  setInterval(() => {
    const { open, waiting, unasked } = connections
    say({ due, waits, lag_ms, connections: open, waiting, unasked, unexpected } satisfies Second)
    due = 0
    lag_ms = 0
    waits = {}
    unexpected = []
  }, 1000)
  process.on("message", (order: Order) => {
    stop()
    stop = () => {}
    if (order.do === "prepare") void prepare(order.port, order.shops, order.hook)
    else if (order.do === "closed") closed(order.clients)
    else if (order.do === "steady") steady(order.rate, order.greedy)
  })
  process.on("disconnect", () => process.exit())
}

/** Runs the generator in its own process, so that the work of this process delays no request. */
export class Generator {
  readonly #child: ChildProcess
  #onSecond: (second: Second) => void = () => {}
  #onPrepared = () => {}
  #onGone: (error: Error) => void = () => {}

  constructor() {
    this.#child = fork(process.argv[1]!, ["generator"], { stdio: "inherit" })
    this.#child.on("message", (message) => {
      if (message === "prepared") this.#onPrepared()
      else this.#onSecond(message as Second)
    })
    this.#child.on("exit", () => this.#onGone(new Error("The load generator ended")))
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Opens shops on the service at a port. */
  prepare(port: number, shops: number, hook: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onPrepared = resolve
      this.#onGone = reject
      this.order({ do: "prepare", port, shops, hook })
    })
  }

  order(order: Order): void {
    this.#child.send(order)
  }

  /** Runs a command for a number of seconds, and resolves with the measurements of each. */
  during(seconds: number, order: Order, onSecond: (second: Second, index: number) => void = () => {}) {
    return new Promise<ReadonlyArray<Second>>((resolve, reject) => {
      const measurements: Array<Second> = []
      this.#onGone = reject
      this.#onSecond = (second) => {
        measurements.push(second)
        onSecond(second, measurements.length)
        if (measurements.length < seconds) return
        this.#onSecond = () => {}
        resolve(measurements)
      }
      this.order(order)
    })
  }

  end(): void {
    this.#onGone = () => {}
    this.#child.kill("SIGKILL")
  }
}
