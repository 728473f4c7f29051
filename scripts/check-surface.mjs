// Compares the public types of every package entry with the reports in packages/*/api, so that a review sees each
// change of them. `--write` writes the reports again. Also refuses a public signature with a type that users cannot
// name, because no public entry of the package exports it or because it comes from an internal entry, an entry without
// a comment that introduces it, and a public type or member without a comment.
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { basename, join, resolve } from "node:path"
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor"
import { publishedPackages } from "./publishedPackages.mjs"
import { unnamedTypes } from "./unnamedTypes.mjs"

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
      messages: {
        extractorMessageReporting: { ...silent, "ae-forgotten-export": { logLevel: ExtractorLogLevel.Warning } },
        tsdocMessageReporting: silent,
        compilerMessageReporting: silent
      }
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

// The compiler that api-extractor uses, whose version is not the project's.
const { SymbolFlags } = createRequire(import.meta.resolve("@microsoft/api-extractor"))("typescript")
/** @type {any} */
const program = compilerState.program
const checker = program.getTypeChecker()

/** The names that a module exports, and those within the namespaces that it exports. @param {any} module @returns {ReadonlyArray<string>} */
const namesOf = (module) =>
  checker.getExportsOfModule(module).flatMap((/** @type {any} */ symbol) => {
    const target = symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    return target.flags & SymbolFlags.ValueModule ? [symbol.name, ...namesOf(target)] : [symbol.name]
  })

/** The names that each package's public entries export, by its folder. @type {Map<string, Set<string>>} */
const namesByFolder = new Map()
for (const { folder, built } of entries) {
  const file = program.getSourceFile(built)
  const module = file && checker.getSymbolAtLocation(file)
  if (module === undefined) throw new Error(`${built} is missing: build first`)
  const names = namesByFolder.get(folder) ?? new Set()
  for (const name of namesOf(module)) names.add(name)
  namesByFolder.set(folder, names)
}

/** The rows of the table of exceptions that a signature needed. @type {Set<string>} */
const usedExceptions = new Set()

/**
 * Whether users can name the type, or need not. The base class of a tagged error or of a tag has no name in the source.
 * @param {string} folder @param {string} type
 */
const isNamed = (folder, type) => {
  const exception = `${basename(folder)}: ${type}`
  if (exception in unnamedTypes) {
    usedExceptions.add(exception)
    return true
  }
  return type.endsWith("_base") || namesByFolder.get(folder)?.has(type) === true
}

/** @type {Array<string>} */
const complaints = []

const changed = configs.filter((config) => {
  const { projectFolder } = config
  const entry = `${basename(projectFolder)}/api/${basename(config.reportFilePath)}`
  /** @type {Set<string>} */
  const unnamed = new Set()
  const { apiReportChanged } = Extractor.invoke(config, {
    localBuild: isWriting,
    compilerState,
    messageCallback: (message) => {
      message.handled = true
      // The name ends with a number if the report has two types with it.
      const type = message.messageId === "ae-forgotten-export" && /"(\w+?)(?:_\d+)?"/.exec(message.text)?.[1]
      if (type && !isNamed(projectFolder, type)) unnamed.add(type)
    }
  })
  for (const type of unnamed)
    complaints.push(
      `${entry}: a public signature uses ${type}, which no public entry of the package exports. Export the type from the entry, or write the signature without it.`
    )
  const report = readFileSync(
    existsSync(config.reportFilePath) ? config.reportFilePath : config.reportTempFilePath,
    "utf8"
  )
  if (report.includes("(No @packageDocumentation comment"))
    complaints.push(
      `${entry}: the entry has no @packageDocumentation comment. Begin its module with one: for whom the entry is, what it has, and an example import.`
    )
  const undocumented = [...report.matchAll(/\(undocumented\)\n *(.+)/g)].map(([, member]) => member)
  if (undocumented.length > 0)
    complaints.push(
      `${entry}: these have no comment: ${undocumented.join(" ")} Write a /** … */ with what a caller needs to know: the format, the unit, who sets it, or when it is absent.`
    )
  for (const [, name, source] of report.matchAll(
    /^import (?:type )?\{ (\w+).* \} from '(@workshop\/\w[\w-]*\/internal[^']*)'/gm
  ))
    if (!(`${basename(projectFolder)}: ${name}` in unnamedTypes))
      complaints.push(
        `${entry}: a public signature uses ${name} of ${source}, which is not public. Export the type from a public entry, or write the signature without it.`
      )
    else usedExceptions.add(`${basename(projectFolder)}: ${name}`)
  return apiReportChanged
})

for (const exception of Object.keys(unnamedTypes))
  if (!usedExceptions.has(exception))
    complaints.push(`scripts/unnamedTypes.mjs: no public signature needs the exception "${exception}". Remove it.`)
if (complaints.length > 0) {
  console.error(complaints.join("\n"))
  process.exitCode = 1
}

for (const { reportFilePath } of changed)
  console.log(`${isWriting ? "Wrote" : "The public types differ from"} ${reportFilePath}`)
if (!isWriting && changed.length > 0) {
  console.error("If the change is meant, run npm run codegen and commit the reports; else undo it.")
  process.exitCode = 1
}
