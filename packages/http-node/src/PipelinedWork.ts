/** How many pieces of work are done in a turn of the event loop. */
const PIECES = 4

/**
 * What pipelined requests of all connections still ask for, and answers to requests without a good key. A few pieces are done in
 * each turn of the event loop, in the order in which they came, so that clients that wait for their answers are served in between.
 */
export class PipelinedWork {
  readonly #pieces: Array<() => void> = []
  #isScheduled = false

  add(piece: () => void): void {
    this.#pieces.push(piece)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pieces.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const piece of this.#pieces.splice(0, PIECES)) piece()
      this.#schedule()
    })
  }
}
