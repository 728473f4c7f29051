import { createHash } from "node:crypto"
import { Clock } from "effect"
import type { ReceivedDelivery, RecordedRequest } from "./auditor/Trace.js"

const clock = Clock.make()

/** Real time in milliseconds, for rates and latencies; nothing in a simulation depends on it. */
export const realMs = (): number => Number(clock.unsafeCurrentTimeNanos() / 1000n) / 1000

/** How long a request took, in real milliseconds, and when it ended. */
export interface Timing {
  readonly act: string
  readonly ended_ms: number
  readonly took_ms: number
}

/** Records everything that is seen, in order, and its digest. */
export class Recorder {
  readonly exchanges: Array<RecordedRequest> = []
  readonly receptions: Array<ReceivedDelivery> = []
  /** Real time has no part in the digest. */
  readonly timings: Array<Timing> = []
  readonly #digest = createHash("sha256")
  #seq = 0

  /** Records a request that has ended. */
  exchanged(exchange: Omit<RecordedRequest, "seq">): void {
    this.#add(this.exchanges, exchange)
  }

  /** Records a delivery that reached its receiver. */
  received(reception: Omit<ReceivedDelivery, "seq">): void {
    this.#add(this.receptions, reception)
  }

  /** A fingerprint of everything recorded so far. */
  digest(): string {
    return this.#digest.copy().digest("hex")
  }

  #add<A extends object>(to: Array<A & { readonly seq: number }>, seen: A): void {
    const recorded = { seq: ++this.#seq, ...seen }
    to.push(recorded)
    this.#digest.update(JSON.stringify(recorded))
  }
}
