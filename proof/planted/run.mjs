// Plants one bug after another, and reports the machine or the test that catches it: `npm run planted`. See
// docs/reliability.md.
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { bugs } from "./bugs.mjs"
import { plantingBuild } from "./build.mjs"
import { bugOf, misfit, root } from "./plant.mjs"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Runs all machines, instead of stopping after the first that catches the bug.
    all: { type: "boolean", default: false },
    // Writes the table into the page.
    write: { type: "boolean", default: false },
    seeds: { type: "string", default: "60" },
    // The time for one bug. A busy machine needs more time, because a run that does not end in time counts as caught.
    minutes: { type: "string", default: "5" }
  }
})

/** The longest time for one bug, in milliseconds. */
const most_ms = 60_000 * Number(values.minutes)
const TESTS = [
  ...["decisions", "domain", "services", "deliveries", "http"].map((name) => `packages/core/test/${name}`),
  "packages/store-memory/test/MemoryCells.test.ts",
  "packages/http-node/test/spec/trackingPages.test.ts",
  "packages/store-pg/test/joinedTransactions.test.ts"
]

/**
 * The tests of the HTTP server and the sender, which the machines do not use, because they call the service without a
 * socket.
 */
const NODE_TESTS = ["spec/limits", "spec/wire", "server/requests", "sender"].map(
  (name) => `packages/http-node/test/${name}`
)

const POSTGRES_CONTRACT = ["packages/store-pg/test/statements.test.ts"]
const POSTGRES_TESTS = ["BatchChanges", "retention", "within", "ownTransaction", "background", "erasure/erasure"].map(
  (name) => `packages/store-pg/test/${name}.test.ts`
)

/** The tests that run if no machine catches a bug. @param {import("./Bug.mjs").Bug} bug */
const testsOf = ({ file }) =>
  file.startsWith("packages/store-pg/") ? POSTGRES_TESTS : file.startsWith("packages/http-node/") ? NODE_TESTS : TESTS

/** @typedef {{ machine: string, what: string | null, seeds: number | null, took_ms: number }} Look */

/**
 * Runs a program. Returns its output and its exit status, which is null if it did not end in time.
 * @param {string[]} words @param {NodeJS.ProcessEnv} env @returns {Promise<{ out: string, code: number | null }>}
 */
const outputOf = (words, env) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, words, { env: { ...process.env, ...env }, cwd: root })
    let out = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (out += data))
    const timer = setTimeout(() => child.kill("SIGKILL"), most_ms)
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ out, code })
    })
  })

/** Runs the machines of a program, and returns their findings. @param {string} program @returns {Promise<Look[]>} */
const looksAt = async (program) => {
  const { out, code } = await outputOf([program], {
    PLANTED_SEEDS: values.seeds,
    ...(values.all ? { PLANTED_ALL: "1" } : {})
  })
  /** @type {Look[]} */
  const looks = out
    .split("\n")
    .filter((line) => line.startsWith('{"machine"'))
    .map((line) => JSON.parse(line))
  if (code === null)
    looks.push({ machine: "all", what: `no end within ${most_ms / 1000} s`, seeds: null, took_ms: most_ms })
  else if (code !== 0)
    looks.push({ machine: "all", what: `no start: ${out.trim().split("\n").at(-1)}`, seeds: null, took_ms: 0 })
  return looks
}

/**
 * Runs tests of the project with a planted bug, or without one if the id is empty.
 * @param {string} machine
 * @param {string} id
 * @param {string[]} tests
 * @returns {Promise<Look>}
 */
const testsFind = async (machine, id, tests) => {
  const began = performance.now()
  const words = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    "proof/planted/vitest.config.ts",
    "--bail",
    "1",
    // The time-out is long, because a test that is only slow on a busy machine must not count as a failure.
    `--testTimeout=${most_ms}`,
    ...tests
  ]
  const { out } = await outputOf(words, { PLANTED: id, NO_COLOR: "1", FORCE_COLOR: "0" })
  const [, test] = /FAIL\s+\|memory\| (.*)/.exec(out) ?? []
  return { machine, what: test ?? null, seeds: null, took_ms: Math.round(performance.now() - began) }
}

/** The lists of tests that passed without a planted bug. */
const passing = new Set()

/**
 * Runs tests with a planted bug, and before the first bug also without one.
 * @param {string} machine
 * @param {string} id
 * @param {string[]} tests
 * @returns {Promise<Look>}
 */
const testsCatch = async (machine, id, tests) => {
  if (!passing.has(tests)) {
    const { what } = await testsFind(machine, "", tests)
    if (what !== null) throw new Error(`A test fails even without a planted bug: ${what}`)
    passing.add(tests)
  }
  return testsFind(machine, id, tests)
}

const selected = positionals.length > 0 ? positionals.map(bugOf) : bugs
for (const bug of selected) {
  const why = misfit(bug)
  if (why !== undefined) throw new Error(why)
}

mkdirSync(`${root}.workshop/planted`, { recursive: true })
const program = `${root}.workshop/planted/machines.mjs`
const build = await plantingBuild(`${root}proof/planted/machines.ts`, program)
await build.with(null)
const baseline = await looksAt(program)
const errors = baseline.filter(({ what }) => what !== null)
if (errors.length > 0)
  throw new Error(`The machines report an error even without a planted bug: ${JSON.stringify(errors)}`)

/** @type {Map<string, Look[]>} */
const results = new Map()
for (const bug of selected) {
  const isInPostgres = bug.file.startsWith("packages/store-pg/")
  // The machines run on the memory store, so the store contract on Postgres checks bugs of the Postgres store.
  if (!isInPostgres) await build.with(bug)
  const looks = isInPostgres ? [await testsCatch("contract", bug.id, POSTGRES_CONTRACT)] : await looksAt(program)
  if (looks.every(({ what }) => what === null)) looks.push(await testsCatch("tests", bug.id, testsOf(bug)))
  results.set(bug.id, looks)
  const caught = looks.filter(({ what }) => what !== null)
  const by = caught.map(({ machine, seeds }) => (seeds === null ? machine : `${machine} (seed ${seeds})`)).join(", ")
  console.log(`${bug.id}: ${by || "caught by nothing"}${caught[0] ? `: ${caught[0].what}` : ""}`.slice(0, 200))
}
await build.end()

const missed = selected.filter(({ id }) => results.get(id)?.every(({ what }) => what === null))
console.log(`${selected.length - missed.length} of ${selected.length} planted bugs were caught.`)
if (missed.length > 0) process.exitCode = 1

/** @param {Look[]} looks @param {string} machine */
const cell = (looks, machine) => {
  const look = looks.find((one) => one.machine === machine)
  if (look === undefined) return ""
  if (look.what === null) return "–"
  return look.seeds === null ? "yes" : `seed ${look.seeds}`
}

if (values.write) {
  const page = `${root}docs/reliability.md`
  const text = readFileSync(page, "utf8")
  const [, kept = ""] = /<!-- planted -->([\s\S]*?)<!-- \/planted -->/.exec(text) ?? []
  // The row of a bug that was not planted in this run stays.
  const rows = bugs.flatMap(({ id, what }) => {
    const looks = results.get(id)
    if (looks === undefined) return kept.split("\n").filter((line) => line.startsWith(`| ${what} |`))
    const others = looks.find(({ machine }) => machine === "all")
    const cells = ["contract", "simulate", "nodes", "conform", "tests"].map(
      (name) => cell(looks, name) || (others ? "no end" : "")
    )
    return [`| ${what} | ${cells.join(" | ")} |`]
  })
  const caught = rows.filter((row) => /\| (yes|seed \d+) \|/.test(row))
  const table = [
    "| planted bug | contract | simulate | nodes | conform | tests |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    `${caught.length} of ${rows.length} were caught.`
  ].join("\n")
  writeFileSync(
    page,
    text.replace(/(<!-- planted -->\n\n)[\s\S]*?(\n\n<!-- \/planted -->)/, (_, begin, end) => begin + table + end)
  )
}
