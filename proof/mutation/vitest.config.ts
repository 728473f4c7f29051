import { fileURLToPath } from "node:url"
import Tinypool from "tinypool"
import { defineConfig } from "vitest/config"
import base from "../../vitest.config.js"

/** The folder of the project, or of the copy of it that Stryker mutates. */
const root = fileURLToPath(new URL("../..", import.meta.url))

// Vitest ends its thread after each run, and the next mutant would load Effect again, which takes longer than the tests
// of most mutants. reset.ts clears the state that must not stay from one mutant to the next.
Tinypool.prototype.recycleWorkers = async () => {}

// Only the tests of the rules, in one thread, for `npm run mutation`.
const [memory] = base.test?.projects ?? []
export default defineConfig({
  ...(typeof memory === "object" && "resolve" in memory && memory.resolve !== undefined && { resolve: memory.resolve }),
  root,
  test: {
    root,
    provide: { store: "memory" },
    // The tests of the current part; see parts.mjs.
    include: (process.env.MUTATION_TESTS ?? "packages/core/test/domain/**/*.test.ts").split(","),
    setupFiles: ["proof/mutation/reset.ts"],
    sequence: { setupFiles: "list" },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    poolOptions: { threads: { isolate: false, minThreads: 1, maxThreads: 1 } }
  }
})
