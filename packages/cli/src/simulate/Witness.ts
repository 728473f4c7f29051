import { createHash } from "node:crypto"
import type { Exchange, Reception } from "./auditor/Evidence.js"

/** How long a request took, in real milliseconds, and when it ended. */
export interface Lap {
  readonly act: string
  readonly ended_ms: number
  readonly took_ms: number
}

/** Writes down all that is seen, in the order in which it is seen, and the digest of it. */
export class Witness {
  readonly exchanges: Array<Exchange> = []
  readonly receptions: Array<Reception> = []
  /** Real time has no part in the digest. */
  readonly laps: Array<Lap> = []
  readonly #digest = createHash("sha256")
  #seq = 0

  /** An exchange has ended. */
  exchanged(exchange: Omit<Exchange, "seq">): void {
    const noted = { seq: ++this.#seq, ...exchange }
    this.exchanges.push(noted)
    this.#digest.update(JSON.stringify(noted))
  }

  /** A delivery reached its receiver. */
  received(reception: Omit<Reception, "seq">): void {
    const noted = { seq: ++this.#seq, ...reception }
    this.receptions.push(noted)
    this.#digest.update(JSON.stringify(noted))
  }

  /** A fingerprint of everything seen so far. */
  digest(): string {
    return this.#digest.copy().digest("hex")
  }
}
