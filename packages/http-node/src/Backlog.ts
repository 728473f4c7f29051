/** How many tasks run in one turn of the event loop. */
const TASKS_PER_TURN = 4

/**
 * Tasks of low priority: pipelined requests, and responses to requests without a valid key. A few run in each turn of the event loop, in
 * the order of their arrival, so that they cannot delay other requests.
 */
export class Backlog {
  readonly #tasks: Array<() => void> = []
  #isScheduled = false

  add(task: () => void): void {
    this.#tasks.push(task)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#tasks.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      for (const task of this.#tasks.splice(0, TASKS_PER_TURN)) task()
      this.#schedule()
    })
  }
}
