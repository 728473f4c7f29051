/** The number of tasks that run in one iteration of the event loop. */
const TASKS_PER_TURN = 4

/**
 * A queue of low-priority tasks: pipelined requests, and responses to requests without a valid key. It runs a few tasks
 * in each iteration of the event loop, in the order of their arrival, so that they cannot delay other requests.
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
