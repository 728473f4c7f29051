import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { median } from "../Median.js"

const cli = fileURLToPath(new URL("../../../packages/cli/", import.meta.url))

/** The program as `workshop` runs it, and without its bundle, as it runs after `tsc -b`. */
const programs = { bundled: `${cli}bin/workshop.js`, "module by module": `${cli}dist/bin.js` }

/** The most that a start may take, in milliseconds. */
const TARGETS = { help: 150, serve: 600 }

/** Runs a command to its end. */
const toItsEnd = async (args: ReadonlyArray<string>): Promise<void> => {
  await once(spawn(process.execPath, args, { stdio: "ignore" }), "close")
}

/** Starts a server and gets its first response. */
const toTheFirstResponse = async (program: string): Promise<() => Promise<void>> => {
  const args = [program, "serve", "--store", "memory", "--port", "0"]
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  for await (const text of server.stdout) {
    const [, base] = /Listening on (http:\S+)/.exec(String(text)) ?? []
    if (base === undefined) continue
    await (await fetch(`${base}/healthz`)).text()
    break
  }
  return async () => {
    server.kill("SIGKILL")
    await once(server, "close")
  }
}

const timed = async <A>(work: () => Promise<A>): Promise<readonly [ms: number, result: A]> => {
  const began = performance.now()
  const result = await work()
  return [performance.now() - began, result]
}

/** Measures how long the program takes to start, with its bundle and without it, in turns. */
export const measureStart = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: { times: { type: "string", default: "9" }, assert: { type: "boolean", default: false } }
  })
  const took = new Map<string, Array<number>>()
  const note = (name: string, ms: number) => took.set(name, [...(took.get(name) ?? []), ms])
  for (let i = 0; i < Number(values.times); i++) {
    note("node alone", (await timed(() => toItsEnd(["-e", ""])))[0])
    for (const [name, program] of Object.entries(programs)) {
      note(`--help, ${name}`, (await timed(() => toItsEnd([program, "--help"])))[0])
      const [ms, stop] = await timed(() => toTheFirstResponse(program))
      note(`serve --store memory, ${name}`, ms)
      await stop()
    }
  }
  const medians = new Map([...took].map(([name, times]) => [name, Math.round(median(times))]))
  for (const [name, ms] of medians) console.log(`${name.padEnd(40)}${String(ms).padStart(6)} ms`)
  const isFast =
    medians.get("--help, bundled")! <= TARGETS.help && medians.get("serve --store memory, bundled")! <= TARGETS.serve
  return isFast || !values.assert
}
