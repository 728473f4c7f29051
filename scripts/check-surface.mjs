// Compares the public types of every package entry with the reports in packages/*/api, so that a review sees each
// change of them. `--write` writes the reports again.
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { basename, join, resolve } from "node:path"
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor"
import { publishedPackages } from "./publishedPackages.mjs"

const isWriting = process.argv.includes("--write")
const silent = { default: { logLevel: ExtractorLogLevel.None } }

/** Every public entry point of a package, as it is built. Internal ones promise nothing. @param {string} name */
const entriesOf = (name) => {
  const folder = resolve("packages", name)
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  return Object.entries(exports).flatMap(([entry, { types }]) =>
    types === undefined || entry.startsWith("./internal")
      ? []
      : [{ folder, built: join(folder, types), report: `${entry.slice(2).replace("/", "-") || "index"}.api.md` }]
  )
}

const entries = publishedPackages.flatMap(entriesOf)

/** @param {{ folder: string, built: string, report: string }} entry */
const configOf = ({ folder, built, report }) => {
  mkdirSync(join(folder, "api"), { recursive: true })
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: built,
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            module: "NodeNext",
            moduleResolution: "NodeNext",
            target: "ES2022",
            lib: ["ES2023", "ESNext", "WebWorker"],
            strict: true,
            skipLibCheck: true,
            types: ["node"]
          }
        }
      },
      apiReport: {
        enabled: true,
        reportFileName: report,
        reportFolder: join(folder, "api"),
        reportTempFolder: resolve("node_modules/.cache/api", basename(folder))
      },
      newlineKind: "lf",
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: { extractorMessageReporting: silent, tsdocMessageReporting: silent, compilerMessageReporting: silent }
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(folder, "package.json")
  })
}

const configs = entries.map(configOf)
const [first] = configs
if (first === undefined) throw new Error("No package has an entry point")
// One program for all entries: compiling each on its own takes five times as long.
const compilerState = CompilerState.create(first, { additionalEntryPoints: entries.map(({ built }) => built) })

const changed = configs.filter((config) => {
  if (!existsSync(config.mainEntryPointFilePath))
    throw new Error(`${config.mainEntryPointFilePath} is missing: build first`)
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: isWriting,
    compilerState,
    messageCallback: (message) => {
      message.handled = true
    }
  })
  return apiReportChanged
})

for (const { reportFilePath } of changed)
  console.log(`${isWriting ? "Wrote" : "The public types differ from"} ${reportFilePath}`)
if (!isWriting && changed.length > 0) {
  console.error("If the change is meant, run npm run codegen and commit the reports; else undo it.")
  process.exitCode = 1
}
