import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Shares } from "../parts/profile.js"
import { CONNECTIONS, type Generator, type Work } from "./Load.js"
import { MAX_REQUESTS, type Ready, type ServerQuestion } from "./Workload.js"

const PROGRAMS = {
  ours: import.meta.resolve("./ours.js"),
  peer: import.meta.resolve("./peer.js"),
  bare: import.meta.resolve("./bare.js")
} as const

/** The servers that can be measured: ours, the peer on fastify, and Node's own. */
export type ServerName = keyof typeof PROGRAMS

/** A server that is measured, in its own process. */
export interface Server extends Ready {
  readonly process: ChildProcess
}

/** The throughput of a server in some laps. */
export interface Run {
  readonly per_second: number
  /** The responses per second of the server's own processor time. */
  readonly per_cpu_second: number
}

/** Starts one of the servers. */
export const start = async (name: ServerName): Promise<Server> => {
  const process = fork(fileURLToPath(PROGRAMS[name]), { stdio: "inherit" })
  const [ready] = (await once(process, "message")) as [Ready]
  return { ...ready, process }
}

/** Stops a server. */
export const stop = async ({ process }: Server): Promise<void> => {
  process.disconnect()
  await once(process, "exit")
}

const ask = async <A>({ process }: Server, question: ServerQuestion): Promise<A> => {
  process.send(question)
  const [response] = (await once(process, "message")) as [A]
  return response
}

const processorSeconds = async (server: Server): Promise<number> => {
  const { user, system } = await ask<NodeJS.CpuUsage>(server, "usage")
  return (user + system) / 1e6
}

/** Profiles a server during some work, and returns the share of each kind of work. */
export const sharesDuring = async (server: Server, work: () => Promise<void>): Promise<Shares> => {
  await ask(server, "profile")
  await work()
  return ask(server, "shares")
}

/** Runs one server under load, and measures its responses and its processor time. */
export class Lap {
  readonly #server: Server
  readonly #work: Work
  readonly #generate: Generator
  #next = 0
  #answered = 0
  #seconds = 0
  #spent_before = 0

  constructor(server: Server, work: Work, generate: Generator) {
    this.#server = server
    this.#work = work
    this.#generate = generate
  }

  /** Sends further requests. */
  async run(requests: number): Promise<void> {
    const { port, tickets } = this.#server
    const { sent, per_second } = await this.#generate({ port, tickets, work: this.#work, from: this.#next, requests })
    this.#next += sent + CONNECTIONS
    this.#answered += sent
    this.#seconds += sent / per_second
    if (this.#next > MAX_REQUESTS[this.#work]) throw new Error("The limits of keys and shops allow fewer requests")
  }

  /** Begins to count, after the warm-up. */
  async begin(): Promise<void> {
    this.#answered = 0
    this.#seconds = 0
    this.#spent_before = await processorSeconds(this.#server)
  }

  async result(): Promise<Run> {
    const spent = (await processorSeconds(this.#server)) - this.#spent_before
    return { per_second: this.#answered / this.#seconds, per_cpu_second: this.#answered / spent }
  }
}
