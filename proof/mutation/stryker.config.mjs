import { fileURLToPath } from "node:url"

/**
 * The configuration of `npm run mutation`. See docs/reliability.md.
 * @type {ConstructorParameters<typeof import("@stryker-mutator/core").Stryker>[0]}
 */
export default {
  // The sandbox contains only the files that these tests read.
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
  // The time-out is long, because Stryker detects endless loops by counting hits of a mutant, and a busy machine must
  // not kill one.
  timeoutMS: 120_000,
  // Types are not checked, because a mutant must be killed by a test and not by the compiler.
  checkers: [],
  disableTypeChecks: false
}
