import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const packages = fileURLToPath(new URL("./packages/", import.meta.url))

export default defineConfig({
  // Tests read the sources, so they need no build and stack traces point into src.
  resolve: { alias: [{ find: /^@workshop\/([^/]+)\/(.+)$/, replacement: `${packages}$1/src/$2.ts` }] },
  test: {
    include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "test/**/*.test.ts"],
    // Starts nothing until a suite asks for a database.
    globalSetup: ["packages/store-pg/test/cluster/globalSetup.ts"],
    reporters: ["default", "./test/reporter.ts"],
    // Effect costs more to load than most files take to run: two workers load it once each, and files share it.
    pool: "threads",
    isolate: false,
    poolOptions: { threads: { minThreads: 1, maxThreads: 2 } }
  }
})
