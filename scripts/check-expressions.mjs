// Finds regular expressions of the packages whose time grows faster than linearly with their text, because a text from
// outside could then block the process. recheck checks each. Its results are stored, so that only new expressions take
// time.
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { parseSync } from "oxc-parser"

/**
 * The files that may create expressions at run time, which cannot be checked here, each with the reason.
 * @type {Record<string, string>}
 */
const MADE = {
  "packages/testers/src/scenario/Expectation.ts": "written by the author of a scenario for their own run",
  "packages/testers/src/scenario/references.ts": "from constants, of which every repetition ends in a letter",
  "packages/cli/src/scenario/runFiles.ts": "from a pattern that users type for their own files",
  "packages/core/src/terminal/formatTable.ts":
    "from a constant, because the linter refuses control characters in a literal",
  "packages/core/src/domain/Person.ts":
    "from one client's escaped names and numbers, of which every repetition ends after three characters"
}

const VERDICTS = new URL("../node_modules/.cache/expressions.json", import.meta.url)

/** The quantifiers without which an expression is fast, so that recheck need not check it. */
const REPEATS = /[*+]|\{\d+,\}/

/** @typedef {{ path: string, line: number, raw: string, pattern: string, flags: string }} Expression */

/** @param {string} path */
const read = (path) => {
  const text = readFileSync(path, "utf8")
  /** @type {Array<Expression>} */
  const expressions = []
  /** @type {Array<string>} */
  const made = []
  /** @type {(node: any) => void} */
  const visit = (node) => {
    if (Array.isArray(node)) return node.forEach(visit)
    if (node === null || typeof node !== "object") return
    const line = () => text.slice(0, node.start).split("\n").length
    if (node.type === "Literal" && node.regex) {
      expressions.push({ path, line: line(), raw: node.raw, ...node.regex })
    } else if (/^(New|Call)Expression$/.test(node.type) && node.callee.name === "RegExp" && !(path in MADE)) {
      made.push(`${path}:${line()}: write the expression as a literal, or add the file to MADE with the reason`)
    }
    Object.values(node).forEach(visit)
  }
  visit(parseSync(path, text).program)
  return { expressions, made }
}

/** The stored results of earlier runs. @returns {Record<string, string>} */
const known = () => {
  try {
    return JSON.parse(readFileSync(VERDICTS, "utf8"))
  } catch {
    return {}
  }
}

/** The native recheck, if npm installed it for this machine, because the one in JavaScript takes minutes. */
const backend = () => {
  try {
    const platform = { darwin: "macos", win32: "windows" }[String(process.platform)] ?? process.platform
    createRequire(import.meta.resolve("recheck")).resolve(`recheck-${platform}-${process.arch}/package.json`)
    return "native"
  } catch {
    return "pure"
  }
}

const paths = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "packages/*/src/**"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path.endsWith(".ts"))
const files = paths.map(read)
const repeating = files.flatMap(({ expressions }) => expressions).filter(({ pattern }) => REPEATS.test(pattern))

process.env.RECHECK_BACKEND ??= backend()
const { check } = await import("recheck")

/**
 * Checks an expression up to three times, because recheck measures time and a busy machine is slow.
 * @type {(pattern: string, flags: string, tries?: number) => Promise<string>}
 */
const judged = async (pattern, flags, tries = 3) => {
  const verdict = await check(pattern, flags)
  if (verdict.status !== "safe" && tries > 1) return judged(pattern, flags, tries - 1)
  return verdict.status === "vulnerable" ? `takes ${verdict.complexity.type} time` : verdict.status
}

const before = known()
/** @type {Record<string, string>} */
const verdicts = {}
for (const { raw, pattern, flags } of repeating) {
  if (raw in verdicts) continue
  verdicts[raw] = before[raw] === "safe" ? "safe" : await judged(pattern, flags)
}
mkdirSync(new URL(".", VERDICTS), { recursive: true })
writeFileSync(VERDICTS, JSON.stringify(verdicts))

const faults = [
  ...files.flatMap(({ made: expressions }) => expressions),
  ...repeating
    .filter(({ raw }) => verdicts[raw] !== "safe")
    .map(
      ({ path, line, raw }) => `${path}:${line}: ${raw} ${verdicts[raw]}: drop what is ambiguous or bound what repeats`
    )
]
for (const fault of faults) console.error(fault)
// recheck would keep the process running.
process.exit(faults.length > 0 || repeating.length === 0 ? 1 : 0)
