import { Entropy, type SendResult, type StorePorts } from "@workshop/core"
import { layerOn, Memory, memoryCells } from "@workshop/store-memory"
import { type Context, Effect, Layer } from "effect"
import { History, type Json } from "./History.js"
import { Node, type NodeEnvironment } from "./Node.js"
import { Simulation } from "./Simulation.js"

const SECOND = 1000

/** The behaviours of a receiver: its possible responses, and the least and the most milliseconds before them. */
export const receiverBehaviours = [
  { name: "well", answers: [200, 200, 204], min: 1, max: 60 },
  { name: "flaky", answers: [200, 500, null, 503], min: 1, max: 60 },
  { name: "failing", answers: [500, 503, null], min: 1, max: 60 },
  { name: "slow", answers: [200], min: 2000, max: 9500 },
  { name: "silent", answers: [200], min: 11_000, max: 60_000 },
  { name: "gone", answers: [410], min: 1, max: 300 },
  { name: "gone slowly", answers: [410], min: 1500, max: 4000 }
] as const

/** The timeout of an API client. */
export const CLIENT_WAITS_MS = 6 * SECOND
const ANSWER_MS = 10 * SECOND

export interface KnownKey {
  readonly id: string
  readonly text: string
  isRevoked: boolean
}

export interface KnownTicket {
  readonly id: string
}

export interface KnownShop {
  readonly index: number
  readonly id: string
  /** The cell of the shop; null without cells. */
  readonly cell: string | null
  keys: Array<KnownKey>
  readonly tickets: Array<KnownTicket>
  behaviour: (typeof receiverBehaviours)[number]
  url: string
  isApiOn: boolean
  isProgramOn: boolean
  readonly mirror: Map<string, Json>
  sync: { since: string; cursor: string | null; isBusy: boolean }
}

const sentOf = (status: number | null): SendResult => ({
  status,
  error: status === null ? "reset" : null,
  detail: null,
  address: null,
  timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
  head: ""
})

/** The cells of the store in every fifth seed. The first is the home cell. */
const CELLS = ["home", "north"] as const

/** One memory store that all nodes share, or one with several cells. */
const storesOf = (seed: number): Pick<NodeEnvironment, "store" | "cells"> => {
  if (seed % 5 === 0) {
    const cells = Effect.runSync(Effect.provide(memoryCells(CELLS), Entropy.layerSeeded(seed)))
    return { store: cells.cells[0].ports, cells }
  }
  const store = Effect.runSync(
    Effect.scoped(Layer.build(layerOn(new Memory()).pipe(Layer.provide(Entropy.layerSeeded(seed)))))
  ) as Context.Context<StorePorts>
  return { store, cells: null }
}

/** The nodes over one store, the receivers, and the shops and clients of a run. */
export class Fleet {
  readonly history = new History()
  readonly simulation: Simulation
  readonly nodes: Array<Node> = []
  readonly shops: Array<KnownShop> = []
  readonly clients: Array<{ readonly id: string; readonly phone: string }> = []
  readonly #seed: number
  readonly #around: NodeEnvironment
  #named = 0
  #started = 0

  constructor(seed: number) {
    this.#seed = seed
    this.simulation = new Simulation(seed ^ 0x5eed)
    const { simulation, history, nodes } = this
    const receive: NodeEnvironment["receive"] = (...post) => this.receive(...post)
    this.#around = { simulation, history, nodes, receive, ...storesOf(seed) }
  }

  startNode(off_ms: number): Node {
    this.#started++
    const node = new Node(`node ${this.#started}`, this.#around)
    node.machine.clock_off_ms = off_ms
    node.start(this.#seed * 100 + this.#started)
    return node
  }

  up(): ReadonlyArray<Node> {
    return this.nodes.filter(({ isUp }) => isUp)
  }

  node(pick: number): Node {
    const up = this.up()
    return up[pick % up.length]!
  }

  /** The cell in which a shop was placed. */
  cellOf(shop_id: string): string | null {
    const { cells } = this.#around
    return cells && Effect.runSync(cells.directory.cellOfShop(shop_id as never))
  }

  get cells(): ReadonlyArray<string> {
    return this.#around.cells?.cells.map(({ name }) => name) ?? []
  }

  receive(...[node, post, onResult]: Parameters<NodeEnvironment["receive"]>) {
    const { simulation, history } = this
    const { draws } = simulation
    const shop = this.shops.find(({ id }) => id === post.shop_id)!
    const started_at = simulation.now
    const arrive = (isDouble: boolean) => {
      const { answers, min, max } = shop.behaviour
      const takes = draws.integerBetween(min, max)
      const isLate = simulation.now + takes - started_at >= ANSWER_MS
      const status = isLate ? null : draws.oneOf<number | null>(answers)
      const reception = {
        kind: "reception" as const,
        at: simulation.now,
        started_at,
        node: node.machine.name,
        url: post.url,
        shop: post.shop_id,
        signature: post.headers["Service-Signature"] ?? null,
        body: post.body,
        status: isDouble ? null : status,
        ended_at: null as number | null,
        isDouble
      }
      history.receptions.push(reception)
      if (isDouble) return
      const wait = isLate ? started_at + ANSWER_MS - simulation.now : takes
      simulation.later(
        wait,
        () => {
          reception.ended_at = simulation.now
          onResult(sentOf(status))
        },
        node.machine
      )
    }
    simulation.later(draws.integerBetween(1, 20), () => {
      arrive(false)
      if (draws.chance(0.03)) simulation.later(draws.integerBetween(1, 50), () => arrive(true))
    })
  }

  fresh(prefix: string): string {
    return `${prefix}-${++this.#named}`
  }

  readonly shop = (pick: number) => this.shops[pick % this.shops.length]!
  readonly ticket = (shop: KnownShop, pick: number) =>
    shop.tickets.length === 0
      ? undefined
      : shop.tickets[
          pick % 3 === 0
            ? pick % shop.tickets.length
            : shop.tickets.length - 1 - (pick % Math.min(3, shop.tickets.length))
        ]
  readonly client = (pick: number) => this.clients[pick % this.clients.length]!

  /** Records a fault that begins now. After `ms` it calls `end` and records the end of the fault. */
  fault(node: Node, what: string, ms: number, end: () => void): void {
    const { simulation, history } = this
    const fault = {
      kind: "fault" as const,
      at: simulation.now,
      until: Number.POSITIVE_INFINITY,
      node: node.machine.name,
      what
    }
    history.note(fault)
    simulation.later(ms, () => {
      fault.until = simulation.now
      end()
    })
  }

  /** All machines sleep, as when their host is suspended. */
  sleep(ms: number): void {
    const { simulation, history } = this
    const fault = {
      kind: "fault" as const,
      at: simulation.now,
      until: simulation.now + ms,
      node: "all",
      what: "asleep"
    }
    if (ms > 4 * SECOND) history.note(fault)
    simulation.leap(ms)
  }

  /** For `ms`, a node gets no notifications of changed keys and settings. */
  dropNotifications(node: Node, ms: number): void {
    node.faults.dropsNotifications = true
    this.fault(node, "deaf", ms, () => {
      node.faults.dropsNotifications = false
    })
  }
}
