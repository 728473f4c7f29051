import { createHash } from "node:crypto"
import { Clock, Effect } from "effect"
import { type Handler, type Reply, statusReply } from "../testkit/LoopbackServer.js"
import type { RecordedRequest, TracedDelivery } from "./auditor/Trace.js"
import type { Dice } from "./Dice.js"

const realClock = Clock.make()

/** Real time in milliseconds, for rates and latencies; nothing in a simulation depends on it. */
export const realMs = (): number => Number(realClock.unsafeCurrentTimeNanos() / 1000n) / 1000

/** The latency and the end of a request, in real milliseconds. */
export interface Timing {
  readonly action: string
  readonly ended_ms: number
  readonly took_ms: number
}

/** Records all requests and deliveries in order, and computes their digest. */
export class Recorder {
  readonly exchanges: Array<RecordedRequest> = []
  readonly receptions: Array<TracedDelivery> = []
  /** The timings are not in the digest, because they depend on real time. */
  readonly timings: Array<Timing> = []
  readonly #digest = createHash("sha256")
  #seq = 0

  /** Records a request that has ended. */
  recordExchange(exchange: Omit<RecordedRequest, "seq">): void {
    this.#add(this.exchanges, exchange)
  }

  /** Records a delivery that reached its receiver. */
  recordReception(reception: Omit<TracedDelivery, "seq">): void {
    this.#add(this.receptions, reception)
  }

  /** A digest of everything recorded so far. */
  digest(): string {
    return this.#digest.copy().digest("hex")
  }

  #add<A extends object>(to: Array<A & { readonly seq: number }>, entry: A): void {
    const recorded = { seq: ++this.#seq, ...entry }
    to.push(recorded)
    this.#digest.update(JSON.stringify(recorded))
  }
}

/** The behaviours of a receiver, each with its statuses; null means that it closes the connection. */
export const receiverBehaviours = {
  well: [200, 200, 204, 202],
  flaky: [200, 500, null, 204, 503],
  failing: [500, 503, 404, 429],
  gone: [410],
  moved: [302, 307, 301],
  dropping: [null],
  slow: [200, null, 200]
} as const satisfies Record<string, ReadonlyArray<number | null>>

/** A key of {@link receiverBehaviours}. */
export type ReceiverBehaviour = keyof typeof receiverBehaviours

const replyOf = (status: number | null): Reply => {
  if (status === null) return { kind: "cut" }
  return status >= 300 && status < 400 ? { kind: "redirect", status, to: "http://127.0.0.1:9/" } : statusReply(status)
}

/** Lets other fibers run, the given number of times. */
export const yieldTimes = (times: number): Effect.Effect<void> =>
  times <= 0 ? Effect.void : Effect.zipRight(Effect.yieldNow(), yieldTimes(times - 1))

/** The receivers of all shops, each at the path of its shop's id and with a behaviour that may change. */
export class SimulatedReceivers {
  /** The header in which the service must sign deliveries. */
  readonly signatureHeader: string
  readonly #moods = new Map<string, ReceiverBehaviour>()
  readonly #dice: Dice
  readonly #recorder: Recorder

  constructor(dice: Dice, recorder: Recorder, signatureHeader: string) {
    this.signatureHeader = signatureHeader
    this.#dice = dice
    this.#recorder = recorder
  }

  /** Sets the behaviour of a shop's receiver. */
  setBehaviour(shop: string, behaviour: ReceiverBehaviour): void {
    this.#moods.set(shop, behaviour)
  }

  /** Handles deliveries from a socket. */
  readonly handler: Handler = ({ path, headers, body, isKept }) =>
    Effect.sync(() => {
      const shop = path.slice(1)
      const statuses: ReadonlyArray<number | null> = receiverBehaviours[this.#moods.get(shop) ?? "well"]
      const status = this.#dice.pick(statuses) ?? null
      const signature = headers[this.signatureHeader.toLowerCase()]?.toString() ?? null
      const text = body?.toString("utf8") ?? ""
      this.#recorder.recordReception({ shop, signature, body: text, status, ...(isKept ? { isKept } : {}) })
      return { reply: replyOf(status) }
    })

  /** Handles deliveries in this process. Other fibers run first, a random number of times. */
  readonly pausingHandler: Handler = (incoming) =>
    Effect.zipRight(yieldTimes(this.#dice.integerBetween(0, 3)), this.handler(incoming))
}
