/** How much of an answer is kept. */
const KEPT_BYTES = 4096

// Only a whole line counts; informational answers (1xx) before the real one are passed over.
const STATUS_LINE =
  /^(?:HTTP\/1\.[01] 1\d\d(?: [^\r\n]*)?\r?\n(?:[^\r\n]+\r?\n)*\r?\n)*HTTP\/1\.[01] ([2-9]\d\d)(?: [^\r\n]*)?\r?\n/

const NOT_TEXT = /[^\P{C}\n\t]|\uFFFD/gu

/** An answer as it came over the wire: its start, and how long it was. */
export class Transcript {
  #kept: Array<Buffer> = []
  #kept_bytes = 0
  #bytes = 0
  #status: number | null = null

  /** All bytes so far, those that were not kept included. */
  get bytes(): number {
    return this.#bytes
  }

  /** The status, as soon as its line has come in full, which is before a parser tells it. */
  get status(): number | null {
    return this.#status
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length
    const room = KEPT_BYTES - this.#kept_bytes
    if (room === 0) return
    // A copy, so that a small part does not keep the whole of what was read with it.
    const part = Buffer.from(chunk.subarray(0, room))
    this.#kept.push(part)
    this.#kept_bytes += part.length
    if (this.#status !== null) return
    const status = STATUS_LINE.exec(this.#whole().toString("latin1"))?.[1]
    if (status !== undefined) this.#status = Number(status)
  }

  /** What was kept, fit to be stored and shown: no longer in UTF-8 than it was, and without control characters. */
  text(): string {
    return this.#whole().toString("utf8").replaceAll("\r\n", "\n").replaceAll(NOT_TEXT, "?")
  }

  #whole(): Buffer {
    if (this.#kept.length > 1) this.#kept = [Buffer.concat(this.#kept)]
    return this.#kept[0] ?? Buffer.alloc(0)
  }
}
