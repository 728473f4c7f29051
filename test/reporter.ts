import type { Reporter, SerializedError, TestModule } from "vitest/node"

const failsToLoad = (module: TestModule) =>
  module.state() === "failed" && ![...module.children.allTests()].some((test) => test.result().state === "failed")

/** Ends the output with the line that CI reads, such as `412 passed, 0 failed, 3 skipped`. */
export default class Totals implements Reporter {
  #modules: ReadonlyArray<TestModule> = []
  #errors: ReadonlyArray<SerializedError> = []

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<SerializedError>) {
    this.#modules = modules
    this.#errors = errors
  }

  /**
   * The line is the last one, because Vitest calls this hook after that of the default reporter, which prints its
   * summary.
   */
  onFinished() {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of this.#modules) {
      for (const test of module.children.allTests()) count[test.result().state]++
    }
    // A file that does not load and an error outside any test count as failures too, because they fail the run.
    const failed = count.failed + count.pending + this.#modules.filter(failsToLoad).length + this.#errors.length
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : ""
    console.log(`${count.passed} passed, ${failed} failed${skipped}`)
  }
}
