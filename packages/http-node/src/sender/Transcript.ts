/** How much of an answer is kept. */
const KEPT_BYTES = 4096

const NOT_TEXT = /[^\P{C}\n\t]|\uFFFD/gu

// Most answers: nothing there needs to be replaced.
const PLAIN = /^[ -~\n\t]*$/

const NOTHING = Buffer.alloc(0)

/** An answer as it came over the wire: its start, and how long it was. */
export class Transcript {
  #kept: Array<Buffer> = []
  #kept_bytes = 0
  #bytes = 0

  /** All bytes so far, those that were not kept included. */
  get bytes(): number {
    return this.#bytes
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    const room = KEPT_BYTES - this.#kept_bytes
    if (room === 0) return
    // A copy, so that a small part does not keep the whole of what was read with it.
    const part = Buffer.from(chunk.subarray(0, room))
    this.#kept.push(part)
    this.#kept_bytes += part.length
  }

  /** What was kept, fit to be stored and shown: no longer in UTF-8 than it was, and without control characters. */
  text(): string {
    const whole = this.#kept.length > 1 ? Buffer.concat(this.#kept) : (this.#kept[0] ?? NOTHING)
    const lines = whole.toString("utf8").replaceAll("\r\n", "\n")
    return PLAIN.test(lines) ? lines : lines.replaceAll(NOT_TEXT, "?")
  }
}
