import type { Dice } from "./Dice.js"
import type { Witness } from "./Witness.js"

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

/** The receivers of all shops: each in a mood that may change. */
export class Receivers {
  /** The header in which the service is to sign. */
  readonly signatureHeader: string
  readonly #moods = new Map<string, Mood>()
  readonly #dice: Dice
  readonly #witness: Witness

  constructor(dice: Dice, witness: Witness, signatureHeader: string) {
    this.signatureHeader = signatureHeader
    this.#dice = dice
    this.#witness = witness
  }

  /** From now on a shop's receiver behaves so. */
  turn(shop: string, mood: Mood): void {
    this.#moods.set(shop, mood)
  }

  /**
   * Takes a delivery in, the names of its headers in lower case; `isKept` where its connection had carried another before.
   * Returns the status of the response, or null where the receiver hangs up.
   */
  hear(shop: string, headers: Readonly<Record<string, string>>, body: string, isKept = false): number | null {
    const statuses: ReadonlyArray<number | null> = moods[this.#moods.get(shop) ?? "well"]
    const status = this.#dice.pick(statuses) ?? null
    const signature = headers[this.signatureHeader.toLowerCase()] ?? null
    this.#witness.received({ shop, signature, body, status, ...(isKept ? { isKept } : {}) })
    return status
  }

  /** How often others get their turn before it answers. */
  pauses(): number {
    return this.#dice.between(0, 3)
  }
}
