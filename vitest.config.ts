import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { publishedPackages } from "./scripts/publishedPackages.mjs"
import { LongestFirst } from "./test/LongestFirst.js"

// Most of what a test allocates is garbage soon. A larger young generation in the workers, which start later, lets it die there: a
// tenth less processor time.
setFlagsFromString("--max-semi-space-size=32")
setFlagsFromString("--min-semi-space-size=32")

const packages = fileURLToPath(new URL("./packages/", import.meta.url))

/** Every entry point of our packages, and the source that it is built from. */
const entryPoints = publishedPackages.flatMap((name) => {
  const { exports } = JSON.parse(readFileSync(`${packages}${name}/package.json`, "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly default?: string }>>
  }
  return Object.entries(exports).flatMap(([entry, { default: built }]) =>
    built === undefined
      ? []
      : [
          {
            find: new RegExp(`^@workshop/${name}${entry.slice(1)}$`),
            replacement: `${packages}${name}/${built.replace("./dist/", "src/").replace(/\.js$/, ".ts")}`
          }
        ]
  )
})

const shared = {
  // Tests read the sources, so they need no build and stack traces point into src.
  resolve: { alias: entryPoints }
}

const running = {
  // The second starts nothing until a suite asks for a database.
  globalSetup: ["test/temporaryFolder.ts", "packages/store-pg/test/cluster/globalSetup.ts"] as string[],
  // Fails a file that leaves a server, a connection, a process or a timer behind.
  setupFiles: "test/openHandles.ts",
  isolate: false
} as const

/** Four, or as many as `--poolOptions.threads.maxThreads` says: the fewest, which depend on it, must not exceed it. */
const workers = Number(/maxThreads[= ](\d+)/.exec(process.argv.join(" "))?.[1] ?? 4)

/** Whether a Postgres was named, as `npm run test:postgres` does, on which the rules over HTTP are shown as well. */
const isNamed = Boolean(process.env.WORKSHOP_TEST_POSTGRES ?? process.env.TEST_DATABASE_URL)

const onPostgres: TestProjectInlineConfiguration = {
  ...shared,
  test: {
    ...running,
    name: "postgres",
    pool: "threads",
    provide: { store: "postgres" },
    testTimeout: 90_000,
    hookTimeout: 90_000,
    include: ["packages/http-node/test/{spec,sandbox}/**/*.test.ts"]
  }
}

export default defineConfig({
  test: {
    reporters: ["default", "./test/reporter.ts"],
    // Effect and the sources cost more to load than most files take to run: four workers load them once each, and files share
    // them. Many files wait for processes and databases, and three workers leave a fifth of two cores idle. The pool is the
    // root's, and opens a worker for each file unless it is told here too. It removes an idle worker beyond the fewest twice if
    // there still are more than those afterwards, and the second removal ends the run with "Terminating worker thread": therefore
    // the fewest are only one less than the most.
    poolOptions: {
      threads: { minThreads: Math.max(1, workers - 1), maxThreads: workers, isolate: false }
    },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...shared,
        test: {
          ...running,
          name: "memory",
          pool: "threads",
          provide: { store: "memory" },
          // A test of thousands of values takes longer than five seconds while three other files run.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "test/**/*.test.ts", "proof/**/*.test.ts"]
        }
      },
      // The same rules, on the other store: npm test shows them there by the conformance cases and the store contract.
      ...(isNamed ? [onPostgres] : [])
    ]
  }
})
