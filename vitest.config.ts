import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { setFlagsFromString } from "node:v8"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { publishedPackages } from "./scripts/publishedPackages.mjs"
import { LongestFirst } from "./test/LongestFirst.js"

// Most objects of a test become garbage soon. The workers, which start later, have a larger young generation, because
// V8 then collects these objects there, which saves a twelfth of the processor time.
setFlagsFromString("--max-semi-space-size=32")
setFlagsFromString("--min-semi-space-size=32")

// Most functions of a test run only a few times. V8 therefore compiles each at its first call, without optimizing it, and
// optimizes it seven times later than by default, which saves a twelfth of the processor time.
setFlagsFromString("--always-sparkplug")
setFlagsFromString("--interrupt-budget=1000000")

const packages = fileURLToPath(new URL("./packages/", import.meta.url))

/** Aliases from every entry point of our packages to its source file. */
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
  // Tests load the sources, so that they need no build and stack traces point into src.
  resolve: { alias: entryPoints }
}

const running = {
  // The second module starts no server until a suite asks for a database.
  globalSetup: ["test/temporaryFolder.ts", "packages/store-pg/test/cluster/globalSetup.ts"] as string[],
  // Fails a file that leaves a server, a connection or a process running.
  setupFiles: "test/openHandles.ts",
  isolate: false
} as const

/** The largest number of workers. It is read from the command line, because `minThreads` below must not exceed it. */
const workers = Number(/maxThreads[= ](\d+)/.exec(process.argv.join(" "))?.[1] ?? 4)

/** True if the environment names a Postgres, as in `npm run test:postgres`. The HTTP tests then run on it too. */
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
    // Files share the modules of their worker (`isolate: false`), because loading Effect and the sources takes longer
    // than most files. The option must be set here too, because the root's pool would otherwise open a worker for each
    // file. There are four workers, because many files wait for processes and databases, and three leave a fifth of two
    // cores idle. `minThreads` is one less than `maxThreads`, because the pool removes an idle worker twice if more
    // than `minThreads` remain, and the second removal ends the run with "Terminating worker thread".
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
          // A test with thousands of generated values takes longer than the default of five seconds while other files
          // run.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "test/**/*.test.ts", "proof/**/*.test.ts"]
        }
      },
      // The HTTP tests on Postgres run only on request, because conformance cases and the store contract cover it in
      // npm test.
      ...(isNamed ? [onPostgres] : [])
    ]
  }
})
