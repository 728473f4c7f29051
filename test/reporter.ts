import type { Reporter, SerializedError, TestModule } from "vitest/node"

const failsToLoad = (module: TestModule) =>
  module.state() === "failed" && ![...module.children.allTests()].some((test) => test.result().state === "failed")

/** Ends the output with the one line CI reads: `412 passed, 0 failed`, and `, 3 skipped` where some are. */
export default class Totals implements Reporter {
  #modules: ReadonlyArray<TestModule> = []
  #errors: ReadonlyArray<SerializedError> = []

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<SerializedError>) {
    this.#modules = modules
    this.#errors = errors
  }

  /** Vitest's own summary is written by `onFinished` hooks of reporters before this one. */
  onFinished() {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of this.#modules) {
      for (const test of module.children.allTests()) count[test.result().state]++
    }
    // A file that does not load and an error outside any test also fail the run: never "0 failed" on a red one.
    const failed = count.failed + count.pending + this.#modules.filter(failsToLoad).length + this.#errors.length
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ""
    console.log(`${count.passed} passed, ${failed} failed${skipped}`)
  }
}
