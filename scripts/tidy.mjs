// The part of the tidy check that no other tool covers. biome.json has the rest: imports, banned calls, function
// length.
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename } from "node:path"

/** @typedef {{ file_lines: number, function_lines: number, longer_files: Record<string, number> }} Limits */
/** @typedef {{ path: string, text: string, lines: string[] }} Source */

const VAGUE_NAME = /^(utils?|helpers?|commons?|misc|shared|stuff)$|(Utils?|Helpers?|Misc)$/i
const UNFINISHED = /\b(TODO|FIXME|XXX)\b/
// SQL gets its instants as parameters, because the database's clock differs from Effect's.
const SQL_CLOCK = /(?<![\w.$])(now\(\)|current_timestamp\b|(clock|statement|transaction)_timestamp\(\))/i
/**
 * The files whose SQL may read the database's clock: for leases, the difference of clocks and the age of connections.
 * @type {string[]}
 */
const MAY_USE_SQL_CLOCK = [
  "packages/store-pg/src/deliveries/ClaimStatements.ts",
  "packages/store-pg/src/observe/ClockGuard.ts",
  "packages/store-pg/src/observe/PgProbe.ts",
  "packages/store-pg/src/migrate/Move.ts"
]
const EXPORT =
  /^export (?:declare )?(?:default )?(?:abstract )?(?:async )?(?:const|let|class|function\*?|interface|type|enum|namespace) (\w+)/

/** @param {(path: string) => string} read @returns {Limits} */
const limitsFrom = (read) => ({
  ...JSON.parse(read("scripts/tidy.json")),
  function_lines: Number(/"maxLines": (\d+)/.exec(read("biome.json"))?.[1])
})

/** The limits of the last commit; none if there is no commit yet. */
const committedLimits = () => {
  try {
    return limitsFrom((path) => execFileSync("git", ["show", `HEAD:${path}`], { encoding: "utf8", stdio: "pipe" }))
  } catch {
    return undefined
  }
}

/** @param {Limits} now @param {Limits} before */
const loosened = (now, before) => [
  .../** @type {const} */ (["file_lines", "function_lines"])
    .filter((limit) => now[limit] > before[limit])
    .map((limit) => `${limit} rose from ${before[limit]} to ${now[limit]}: limits only go down`),
  ...Object.entries(now.longer_files)
    .filter(([path, lines]) => lines > (before.longer_files[path] ?? Number.POSITIVE_INFINITY))
    .map(([path]) => `scripts/tidy.json: the exception of ${path} rose: limits only go down`)
]

/** @param {Source} source @param {Limits} limits */
const length = ({ path, lines }, limits) => {
  const exception = limits.longer_files[path]
  if (exception !== undefined && lines.length < exception) {
    return [`${path}: is down to ${lines.length} lines, so lower its exception in scripts/tidy.json`]
  }
  const limit = exception ?? limits.file_lines
  return lines.length > limit
    ? [`${path}: ${lines.length} lines, at most ${limit}: is there a second concept in it?`]
    : []
}

/** @param {Source} source */
const vagueName = ({ path }) =>
  path.split("/").some((part) => VAGUE_NAME.test(basename(part).replace(/\..*$/, "")))
    ? [`${path}: name the concept, not the drawer`]
    : []

/** @param {Source} source @param {RegExp} pattern @param {string} advice */
const lineWith = ({ path, lines }, pattern, advice) =>
  lines.flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${advice}`] : []))

/**
 * A type beside the value of its name, and the overloads of a function, share the first one's docstring.
 * @param {Source} source
 */
const undocumented = ({ path, lines }) => {
  const documented = new Set()
  return lines.flatMap((line, i) => {
    const name = EXPORT.exec(line)?.[1]
    if (name === undefined || documented.has(name)) return []
    const above = lines.slice(0, i).findLastIndex((candidate) => !candidate.startsWith("//"))
    const closed = above >= 0 && lines[above]?.endsWith("*/")
    const opening = closed ? lines.slice(0, above + 1).findLast((candidate) => candidate.includes("/*")) : undefined
    if (!opening?.startsWith("/**")) return [`${path}:${i + 1}: export ${name} says nothing of itself: add a /** … */`]
    documented.add(name)
    return []
  })
}

const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { encoding: "utf8" }).split("\n")
const names = new Set(tracked.map((path) => basename(path)))
const PAGE = /^(docs\/[^/]+|packages\/[^/]+\/README|README|CONTRIBUTING|SECURITY)\.md$/
// `src/…` is left out, because it names a file of the reader's project.
const NAMED_FILE = /`((?!src\/)[\w./-]+\.(?:tsx?|mjs|sql))`/g

/** The files that a page names and that do not exist. @param {string} page */
const goneFiles = (page) =>
  [...readFileSync(page, "utf8").matchAll(NAMED_FILE)].flatMap(([, path = ""]) =>
    names.has(basename(path)) ? [] : [`${page}: there is no ${path}`]
  )

const SPEED_PAGE = "docs/how-it-is-built.md"
const speedPage = readFileSync(SPEED_PAGE, "utf8")
/** The files of `fast` folders that the page does not justify. */
const unjustified = tracked.filter(
  (path) =>
    /^packages\/[^/]+\/src\/fast\//.test(path) &&
    existsSync(path) &&
    !speedPage.includes(path.slice("packages/".length))
)

const roots = [
  ...readdirSync("packages").flatMap((name) => [`packages/${name}/src`, `packages/${name}/test`]),
  "bench",
  "examples"
]
/** @type {Source[]} */
const sources = roots
  .filter((root) => existsSync(root))
  .flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|sql)$/.test(name) && !/(^|\/)(node_modules|dist|generated)\//.test(name))
      .map((name) => {
        const text = readFileSync(`${root}/${name}`, "utf8")
        return { path: `${root}/${name}`, text, lines: text.replace(/\n$/, "").split("\n") }
      })
  )

const limits = limitsFrom((path) => readFileSync(path, "utf8"))
const complaints = [
  ...loosened(limits, committedLimits() ?? limits),
  ...Object.keys(limits.longer_files)
    .filter((path) => !existsSync(path))
    .map((path) => `scripts/tidy.json: ${path} is gone`),
  ...tracked.filter((path) => PAGE.test(path) && existsSync(path)).flatMap(goneFiles),
  ...unjustified.map((path) => `${SPEED_PAGE}: say what ${path} saves, in the table of such files`),
  ...sources.flatMap((source) => [
    ...vagueName(source),
    ...lineWith(source, UNFINISHED, "finish it, or open an issue"),
    ...(source.path.includes("/src/") && source.path.startsWith("packages/")
      ? [
          ...length(source, limits),
          ...undocumented(source),
          ...(MAY_USE_SQL_CLOCK.includes(source.path)
            ? []
            : lineWith(source, SQL_CLOCK, "SQL gets the time as a parameter"))
        ]
      : [])
  ])
]
for (const complaint of complaints) console.error(complaint)
console.log(`tidy: ${sources.length} files, ${complaints.length} complaints`)
process.exitCode = complaints.length > 0 ? 1 : 0
