import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { publishedPackages } from "./scripts/publishedPackages.mjs"
import { LongestFirst } from "./test/LongestFirst.js"

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

/** Three, or as many as `--poolOptions.threads.maxThreads` says: the fewest, which depend on it, must not exceed it. */
const workers = Number(/maxThreads[= ](\d+)/.exec(process.argv.join(" "))?.[1] ?? 3)

const OF_HTTP = "packages/http-node/test"

/**
 * The rules over HTTP that are also shown on Postgres each time: those whose effects the store keeps or orders. The others are shown on
 * Postgres by the store contract, and over HTTP on the memory store.
 */
const ON_POSTGRES = [
  `${OF_HTTP}/spec/{clients,closures,createTicket,events,idempotency,limits,optionalKeys,privacy,sideEffects,states,sync}.test.ts`,
  `${OF_HTTP}/sandbox/{deliveries,offers}.test.ts`
]

/** On a Postgres that was named, as `npm run test:postgres` does, all of them are. */
const isNamed = Boolean(process.env.WORKSHOP_TEST_POSTGRES ?? process.env.TEST_DATABASE_URL)

export default defineConfig({
  test: {
    reporters: ["default", "./test/reporter.ts"],
    // Effect and the sources cost more to load than most files take to run: three workers load them once each, and files share
    // them. Many files wait for processes and databases, so that three workers use two cores better than two do. The pool is the
    // root's, and opens a worker for each file unless it is told here too. It removes an idle worker beyond the fewest twice if
    // there still are more than those afterwards, and the second removal ends the run with "Terminating worker thread": therefore
    // the fewest are only one less than the most.
    poolOptions: {
      threads: { minThreads: Math.max(1, workers - 1), maxThreads: workers, isolate: false },
      // Files of two projects never share a worker, so one pool would run one project after the other. The process of the second
      // project loads the sources once more, and works from the beginning.
      forks: { minForks: 1, maxForks: 1, isolate: false }
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
          // A test of thousands of values takes longer than five seconds while two other files run.
          testTimeout: 30_000,
          hookTimeout: 30_000,
          include: ["packages/*/test/**/*.test.ts", "examples/**/*.test.ts", "test/**/*.test.ts", "proof/**/*.test.ts"]
        }
      },
      {
        ...shared,
        test: {
          ...running,
          // The same rules, on the other store.
          name: "postgres",
          pool: isNamed ? "threads" : "forks",
          provide: { store: "postgres" },
          testTimeout: 90_000,
          hookTimeout: 90_000,
          include: isNamed ? [`${OF_HTTP}/{spec,sandbox}/**/*.test.ts`] : ON_POSTGRES
        }
      }
    ]
  }
})
