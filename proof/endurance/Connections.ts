import { connect, type Socket } from "node:net"

/** The outcome of a request: its status, or the reason why there is no response. */
export type Outcome = number | "timeout" | "reset"

/** The response to a request; its text is empty if there is no response. */
export interface Response {
  readonly outcome: Outcome
  readonly text: string
}

/** The longest wait for a response, as in most clients. */
const TIMEOUT_MS = 5_000
const SWEEP_MS = 50

const HEAD_END = "\r\n\r\n"

/**
 * The longest delay of a body that is sent in a separate packet after its head, because many clients send bodies in
 * this way.
 */
const BODY_AFTER_MS = 20

interface Job {
  readonly head: string
  readonly body: string
  readonly until_ms: number
  readonly resolve: (response: Response) => void
  isOver: boolean
}

/** The first response in a text, if the text contains all of it. */
const wholeResponse = (text: string) => {
  const headEnd = text.indexOf(HEAD_END)
  if (headEnd < 0) return undefined
  const head = text.slice(0, headEnd)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  const end = headEnd + HEAD_END.length + length
  if (text.length < end) return undefined
  const isLast = /\r\nconnection: close/i.test(head)
  return { status: Number(head.slice(9, 12)), text: text.slice(end - length, end), isLast }
}

/**
 * The service accepts 1,000 connections of one address and 2,000 in total. The clients use three addresses and fewer
 * connections, so that these limits do not affect the result, but more than the number of requests that the service
 * admits at the same time.
 */
const ADDRESSES = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
const MOST = 1_800

/** The requests that wait for a connection, in the order in which they time out. */
class Waiting {
  #jobs: Array<Job> = []
  #first = 0

  get length(): number {
    return this.#jobs.length - this.#first
  }

  first(): Job | undefined {
    return this.#jobs[this.#first]
  }

  push(job: Job): void {
    this.#jobs.push(job)
  }

  shift(): Job | undefined {
    const job = this.#jobs[this.#first]
    if (job === undefined) return undefined
    this.#first++
    if (this.#first > 1_000) {
      this.#jobs = this.#jobs.slice(this.#first)
      this.#first = 0
    }
    return job
  }
}

/**
 * An HTTP client that needs little processor time, so that the service is measured and not the client. It sends one
 * request at a time on each connection. Further requests wait for a connection, and this wait is part of their latency.
 */
export class Connections {
  readonly #port: number
  readonly #idle: Array<Socket> = []
  readonly #busy = new Map<Socket, Job>()
  /** The connections on which a body is still to be sent. */
  readonly #unsent = new Set<Socket>()
  readonly #texts = new Map<Socket, string>()
  readonly #waiting = new Waiting()
  #opened = 0
  /** The number of responses without a request. */
  unasked = 0

  constructor(port: number) {
    this.#port = port
    setInterval(() => this.#giveUp(), SWEEP_MS).unref()
  }

  get open(): number {
    return this.#texts.size
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Sends a request that is due at an instant of `performance.now()`; its latency and its timeout begin then. Half of
   * the bodies are sent in one packet with their heads, and the others later, even if the response has already arrived.
   */
  send(head: string, body: string, due_ms: number): Promise<Response> {
    return new Promise((resolve) => {
      const job: Job = { head, body, until_ms: due_ms + TIMEOUT_MS, resolve, isOver: false }
      const socket = this.#idle.pop()
      if (socket !== undefined) this.#begin(socket, job)
      else if (this.#texts.size < MOST) this.#begin(this.#connect(), job)
      else this.#waiting.push(job)
    })
  }

  #connect(): Socket {
    const localAddress = ADDRESSES[this.#opened++ % ADDRESSES.length]!
    const socket = connect({ port: this.#port, host: "127.0.0.1", localAddress, noDelay: true })
    socket.setEncoding("latin1")
    this.#texts.set(socket, "")
    socket.on("data", (text) => this.#take(socket, String(text)))
    socket.on("error", () => undefined)
    socket.on("close", () => this.#lose(socket, "reset"))
    return socket
  }

  #begin(socket: Socket, job: Job): void {
    this.#busy.set(socket, job)
    if (job.body === "" || Math.random() < 0.5) {
      socket.write(job.head + job.body, "latin1")
      return
    }
    socket.write(job.head, "latin1")
    this.#unsent.add(socket)
    setTimeout(() => {
      if (!this.#unsent.delete(socket) || socket.destroyed) return
      socket.write(job.body, "latin1")
      if (job.isOver) this.#free(socket)
    }, Math.random() * BODY_AFTER_MS)
  }

  #take(socket: Socket, more: string): void {
    const text = this.#texts.get(socket)
    if (text === undefined) return
    const job = this.#busy.get(socket)
    if (job === undefined) {
      this.unasked++
      this.#lose(socket, "reset")
      return
    }
    const response = wholeResponse(text + more)
    if (response === undefined) {
      this.#texts.set(socket, text + more)
      return
    }
    this.#texts.set(socket, "")
    this.#busy.delete(socket)
    this.#end(job, response.status, response.text)
    if (response.isLast) this.#lose(socket, "reset")
    else if (!this.#unsent.has(socket)) this.#free(socket)
  }

  #free(socket: Socket): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(socket)
    else this.#begin(socket, next)
  }

  #lose(socket: Socket, outcome: Outcome): void {
    if (!this.#texts.delete(socket)) return
    socket.destroy()
    this.#unsent.delete(socket)
    const at = this.#idle.indexOf(socket)
    if (at >= 0) this.#idle.splice(at, 1)
    const job = this.#busy.get(socket)
    this.#busy.delete(socket)
    if (job !== undefined) this.#end(job, outcome, "")
    const next = this.#waiting.shift()
    if (next !== undefined) this.#begin(this.#connect(), next)
  }

  #giveUp(): void {
    const now = performance.now()
    for (const [socket, job] of this.#busy) if (job.until_ms < now) this.#lose(socket, "timeout")
    for (let job = this.#waiting.first(); job !== undefined && job.until_ms < now; job = this.#waiting.first()) {
      this.#waiting.shift()
      this.#end(job, "timeout", "")
    }
  }

  #end(job: Job, outcome: Outcome, text: string): void {
    if (job.isOver) return
    job.isOver = true
    job.resolve({ outcome, text })
  }
}
