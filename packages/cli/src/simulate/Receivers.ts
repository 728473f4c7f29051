import { Effect } from "effect"
import { type Handler, type Reply, saying } from "../testkit/Receiver.js"
import type { Dice } from "./Dice.js"
import type { Recorder } from "./Recorder.js"

/** How a receiver behaves: the statuses that it may answer; null hangs up. */
export const moods = {
  well: [200, 200, 204, 202],
  flaky: [200, 500, null, 204, 503],
  failing: [500, 503, 404, 429],
  gone: [410],
  moved: [302, 307, 301],
  dropping: [null],
  slow: [200, null, 200]
} as const satisfies Record<string, ReadonlyArray<number | null>>

/** A key of {@link moods}. */
export type Mood = keyof typeof moods

const replyOf = (status: number | null): Reply => {
  if (status === null) return { kind: "cut" }
  return status >= 300 && status < 400 ? { kind: "redirect", status, to: "http://127.0.0.1:9/" } : saying(status)
}

/** Lets other fibers run, so many times. */
export const pause = (times: number): Effect.Effect<void> =>
  times <= 0 ? Effect.void : Effect.zipRight(Effect.yieldNow(), pause(times - 1))

/** The receivers of all shops, each at the path of its shop's id and in a mood that may change. */
export class Receivers {
  /** The header in which the service is to sign. */
  readonly signatureHeader: string
  readonly #moods = new Map<string, Mood>()
  readonly #dice: Dice
  readonly #recorder: Recorder

  constructor(dice: Dice, recorder: Recorder, signatureHeader: string) {
    this.signatureHeader = signatureHeader
    this.#dice = dice
    this.#recorder = recorder
  }

  /** From now on a shop's receiver behaves so. */
  turn(shop: string, mood: Mood): void {
    this.#moods.set(shop, mood)
  }

  /** Takes deliveries from a socket. */
  readonly handler: Handler = ({ path, headers, body, isKept }) =>
    Effect.sync(() => {
      const shop = path.slice(1)
      const statuses: ReadonlyArray<number | null> = moods[this.#moods.get(shop) ?? "well"]
      const status = this.#dice.pick(statuses) ?? null
      const signature = headers[this.signatureHeader.toLowerCase()]?.toString() ?? null
      const text = body?.toString("utf8") ?? ""
      this.#recorder.received({ shop, signature, body: text, status, ...(isKept ? { isKept } : {}) })
      return { reply: replyOf(status) }
    })

  /** Takes deliveries in this process: other fibers run first, so many times as the dice say. */
  readonly pausing: Handler = (incoming) => Effect.zipRight(pause(this.#dice.between(0, 3)), this.handler(incoming))
}
