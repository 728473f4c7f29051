// node scripts/record-terminal.mjs runs the commands below in three terminals, and draws their output to
// docs/terminal.svg. It needs curl, jq and the port 4010. It stops all processes that it starts, and keeps no data.
import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { drawTerminals } from "./terminalSvg.mjs"

/** @typedef {import("./terminalSvg.mjs").Terminal} Terminal */

const COLUMNS = 134
const API = "http://127.0.0.1:4010"
/** The longest wait for an expected output. */
const TIMEOUT_MS = 30_000
const root = fileURLToPath(new URL("..", import.meta.url))
const workshop = join(root, "packages/cli/bin/workshop.js")
/** A module that makes the command treat its output as a terminal, so that it prints colours. */
const TERMINAL = `data:text/javascript,process.stdout.isTTY=true;process.stdout.columns=${COLUMNS}`
const folder = mkdtempSync(join(tmpdir(), "workshop-picture-"))

/** @type {Array<import("node:child_process").ChildProcess>} */
const running = []

/**
 * Starts a long-running command. Returns a function that returns its output so far.
 * @param {ReadonlyArray<string>} args
 */
const start = (args) => {
  const env = { ...process.env, NO_COLOR: "", WORKSHOP_RECEIVE_PORT: "0" }
  const child = spawn(process.execPath, ["--import", TERMINAL, workshop, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"]
  })
  running.push(child)
  const output = { text: "", hasEnded: false }
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output.text += text
  })
  child.once("exit", () => {
    output.hasEnded = true
  })
  return output
}

/** @param {{ readonly text: string, readonly hasEnded: boolean }} output @param {RegExp} words */
const until = async (output, words) => {
  for (let waited = 0; waited < TIMEOUT_MS; waited += 50) {
    const match = words.exec(output.text)
    if (match !== null) return match[1] ?? match[0]
    if (output.hasEnded) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`The command never printed ${words}:\n${output.text}`)
}

/** Runs a line in a shell. @param {string} line @param {Record<string, string>} variables */
const type = (line, variables) =>
  execFileSync("sh", ["-c", line], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NO_COLOR: "", ...variables }
  })

const ticket = `${API}/v1/tickets`
const bearer = '-H "Authorization: Bearer $WORKSHOP_KEY"'
const TILL = [
  `curl -s ${ticket} ${bearer} -H "Idempotency-Key: sale-1" \\
  --json '{"service":"Resoling","price_minor":45000}' \\
  | jq -c '.data | {number_label, state, remaining_minor: .money.remaining_minor}'`,
  `curl -s ${ticket}/$TICKET/status ${bearer} --json '{"status":"ready"}' \\
  | jq -c '.data | {state, ready_at}'`,
  `curl -s ${API}/sandbox/clock --json '{"advance_ms":5184000000}' | jq -c .data   # sixty days`,
  `curl -s ${ticket}/$TICKET ${bearer} \\
  | jq -c '.data | {state, abandoned_at, abandon_reason}'`
]
const SCENARIO = "examples/scenarios/3-reopen-window.yaml"

/** The first lines of a text, and dots if there are more. @param {string} text @param {number} count */
const firstLines = (text, count) => {
  const lines = text.trimEnd().split("\n")
  return lines.length > count ? `${lines.slice(0, count).join("\n")}\n…` : lines.join("\n")
}

/** @returns {Promise<ReadonlyArray<Terminal>>} */
const record = async () => {
  const service = start(["serve", "--sandbox"])
  const key = await until(service, /WORKSHOP_KEY=(\S+)/)
  await until(service, /Stop it with/)
  const receiver = start(["receive", "--register", API, "--key", key])
  await until(receiver, /points here/)
  /** @type {Array<string>} */
  const till = []
  /** @type {Record<string, string>} */
  const variables = { WORKSHOP_KEY: key }
  for (const line of TILL) {
    till.push(`$ ${line}`, type(line, variables))
    variables.TICKET ??= type(`curl -s '${ticket}?limit=1' ${bearer} | jq -r '.data[0].id'`, variables).trim()
  }
  await until(receiver, /ticket\.abandoned/)
  const scenario = start(["scenario", "run", join(root, SCENARIO)])
  await until(scenario, /\d+ scenario.*\n/)
  return [
    {
      title: "the service",
      text: `$ npx workshop serve --sandbox\n${firstLines(service.text.replaceAll(folder, "…"), 4)}`
    },
    {
      title: "a receiver of webhooks",
      text: `$ npx workshop receive --register ${API} --key $WORKSHOP_KEY\n${receiver.text}`
    },
    { title: "a till, and time", text: till.map((text) => text.trimEnd()).join("\n") },
    {
      title: "a scenario",
      text: `$ npx workshop scenario run ${SCENARIO}\n${scenario.text.replaceAll(root, "")}`
    }
  ]
}

try {
  writeFileSync(join(root, "docs/terminal.svg"), drawTerminals(await record(), COLUMNS))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  for (const child of running) {
    if (child.exitCode !== null) continue
    child.kill("SIGTERM")
    await new Promise((resolve) => child.once("exit", resolve))
  }
  rmSync(folder, { recursive: true, force: true })
}
