// Plants one bug after another, and says what catches it: `npm run planted`. See docs/reliability.md.
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { bugs } from "./bugs.mjs"
import { plantingBuild } from "./build.mjs"
import { bugOf, misfit, root } from "./plant.mjs"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // Every machine looks, not only the first that finds something.
    all: { type: "boolean", default: false },
    // Writes the table into the page.
    write: { type: "boolean", default: false },
    seeds: { type: "string", default: "60" },
    // How long the machines may look for one bug: more on a machine that does much else, where the end would count as a find.
    minutes: { type: "string", default: "5" }
  }
})

/** For so long the machines look for one bug. */
const most_ms = 60_000 * Number(values.minutes)
const TESTS = [
  ...["decisions", "domain", "services", "deliveries", "http"].map((name) => `packages/core/test/${name}`),
  "packages/store-memory/test/MemoryCells.test.ts",
  "packages/http-node/test/spec/trackingPages.test.ts",
  "packages/store-pg/test/within.test.ts"
]

/** The machines reach the service without a socket, so bugs in its server and its sender are left to the tests of these. */
const NODE_TESTS = ["spec/limits", "spec/wire", "server/requests", "sender"].map(
  (name) => `packages/http-node/test/${name}`
)

const POSTGRES_CONTRACT = ["packages/store-pg/test/statements.test.ts"]
const POSTGRES_TESTS = ["BatchChanges", "retention", "within", "ownTransaction", "background", "erasure/erasure"].map(
  (name) => `packages/store-pg/test/${name}.test.ts`
)

/** The tests that look at a bug which no machine finds. @param {import("./Bug.mjs").Bug} bug */
const testsOf = ({ file }) =>
  file.startsWith("packages/store-pg/") ? POSTGRES_TESTS : file.startsWith("packages/http-node/") ? NODE_TESTS : TESTS

/** @typedef {{ machine: string, what: string | null, seeds: number | null, took_ms: number }} Look */

/**
 * The output of a program, and its exit status; null where it did not end in time.
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

/** The findings of the machines in a program. @param {string} program @returns {Promise<Look[]>} */
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

/** The findings of some of the project's own tests; without an id, in the sources as they are. @param {string} machine @param {string} id @param {string[]} tests @returns {Promise<Look>} */
const testsFind = async (machine, id, tests) => {
  const began = performance.now()
  const words = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    "proof/planted/vitest.config.ts",
    "--bail",
    "1",
    // A test that only takes long on a busy machine has found nothing.
    `--testTimeout=${most_ms}`,
    ...tests
  ]
  const { out } = await outputOf(words, { PLANTED: id, NO_COLOR: "1", FORCE_COLOR: "0" })
  const [, test] = /FAIL\s+\|memory\| (.*)/.exec(out) ?? []
  return { machine, what: test ?? null, seeds: null, took_ms: Math.round(performance.now() - began) }
}

/** Lists of tests that pass without a planted bug. */
const passing = new Set()

/** The findings of tests about a bug. Before their first bug they are run without one. @param {string} machine @param {string} id @param {string[]} tests @returns {Promise<Look>} */
const testsCatch = async (machine, id, tests) => {
  if (!passing.has(tests)) {
    const { what } = await testsFind(machine, "", tests)
    if (what !== null) throw new Error(`Without a planted bug a test fails already: ${what}`)
    passing.add(tests)
  }
  return testsFind(machine, id, tests)
}

const asked = positionals.length > 0 ? positionals.map(bugOf) : bugs
for (const bug of asked) {
  const why = misfit(bug)
  if (why !== undefined) throw new Error(why)
}

mkdirSync(`${root}.workshop/planted`, { recursive: true })
const program = `${root}.workshop/planted/machines.mjs`
const build = await plantingBuild(`${root}proof/planted/machines.ts`, program)
await build.with(null)
const whole = await looksAt(program)
const wrong = whole.filter(({ what }) => what !== null)
if (wrong.length > 0) throw new Error(`Without a planted bug something is found already: ${JSON.stringify(wrong)}`)

/** @type {Map<string, Look[]>} */
const results = new Map()
for (const bug of asked) {
  const isInPostgres = bug.file.startsWith("packages/store-pg/")
  // The machines run on the memory store, so bugs of the other store are put to its run of the contract.
  if (!isInPostgres) await build.with(bug)
  const looks = isInPostgres ? [await testsCatch("contract", bug.id, POSTGRES_CONTRACT)] : await looksAt(program)
  if (looks.every(({ what }) => what === null)) looks.push(await testsCatch("tests", bug.id, testsOf(bug)))
  results.set(bug.id, looks)
  const caught = looks.filter(({ what }) => what !== null)
  const by = caught.map(({ machine, seeds }) => (seeds === null ? machine : `${machine} (seed ${seeds})`)).join(", ")
  console.log(`${bug.id}: ${by || "caught by nothing"}${caught[0] ? `: ${caught[0].what}` : ""}`.slice(0, 200))
}
await build.end()

const missed = asked.filter(({ id }) => results.get(id)?.every(({ what }) => what === null))
console.log(`${asked.length - missed.length} of ${asked.length} planted bugs were caught.`)
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
  // A bug that was not asked for keeps its row.
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
