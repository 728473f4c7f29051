import { fileURLToPath } from "node:url"

/**
 * The code that `npm run mutation` changes, and the tests that must notice. See docs/reliability.md.
 * @type {ConstructorParameters<typeof import("@stryker-mutator/core").Stryker>[0]}
 */
export default {
  // The sandbox holds only what these tests read.
  ignorePatterns: [
    "**",
    "!vitest.config.ts",
    "!package.json",
    "!proof/mutation/**",
    "!scripts/publishedPackages.mjs",
    "!test/LongestFirst.ts",
    "!packages/*/package.json",
    "!packages/{client,core,store-memory,webhooks}/{src,test}/**",
    "!packages/*/tsconfig.json",
    "!tsconfig.base.json",
    "!test-vectors/**"
  ],
  plugins: ["@stryker-mutator/vitest-runner", fileURLToPath(new URL("ignore.mjs", import.meta.url))],
  ignorers: ["texts"],
  testRunner: "vitest",
  vitest: { configFile: "proof/mutation/vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  incremental: true,
  incrementalFile: ".workshop/mutation/incremental.json",
  tempDirName: ".workshop/mutation/sandbox",
  reporters: ["clear-text", "json", "html"],
  jsonReporter: { fileName: ".workshop/mutation/report.json" },
  htmlReporter: { fileName: ".workshop/mutation/report.html" },
  clearTextReporter: { reportTests: false, reportMutants: false, allowColor: false },
  concurrency: 2,
  // Endless loops are noticed by how often they pass a mutant. A machine that is busy must not count as one.
  timeoutMS: 120_000,
  // A compiler checks types; it is not a test. Vitest removes them without looking.
  checkers: [],
  disableTypeChecks: false
}
