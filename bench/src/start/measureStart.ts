import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { build } from "esbuild"
import { freePort } from "../../../packages/store-pg/dist/embedded/EmbeddedPostgres.js"
import { median } from "../Median.js"
import { type Bound, benchmark, type Row } from "../report/Benchmark.js"
import { importCosts } from "./importCosts.js"

const cli = fileURLToPath(new URL("../../../packages/cli/", import.meta.url))

/** The program with its bundle, as `workshop` runs it, and without, as it runs after `tsc -b`. */
const programs = { bundled: `${cli}bin/workshop.js`, "module by module": `${cli}dist/bin.js` }

/** The example that embeds the service in Express. */
const express = fileURLToPath(new URL("../../../examples/dist/express/main.js", import.meta.url))

/** The longest durations of starts, in milliseconds. */
const TARGETS: Readonly<Record<string, Bound>> = {
  "--help, bundled": { at_most: 150 },
  "serve --store memory, bundled": { at_most: 600 },
  "Express program, bundled": { at_most: 400 }
}

/** Bundles the Express program into a folder, as docs/embed-express.md does. */
const bundleExpress = (folder: string) =>
  build({
    entryPoints: [express],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    minify: true,
    platform: "node",
    format: "esm",
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url)"
    }
  })

/** Runs a command, and waits until it ends. */
const toItsEnd = async (args: ReadonlyArray<string>): Promise<void> => {
  await once(spawn(process.execPath, args, { stdio: "ignore" }), "close")
}

/** The processor time of a process in milliseconds, from `/proc`, which counts hundredths of a second. */
const processorTime = (pid: number | undefined): number => {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return Number.NaN
  const [user, system] = readFileSync(path, "utf8").split(") ")[1]!.split(" ").slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

/** Starts a server and gets its first response. */
const toTheFirstResponse = async (args: ReadonlyArray<string>, path: string, port: number) => {
  const env = { ...process.env, PORT: String(port) }
  const server = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] })
  for await (const text of server.stdout) {
    const [, base] = /Listening on (http:[^\s]+:\d+)/.exec(String(text)) ?? []
    if (base === undefined) continue
    await (await fetch(`${base}${path}`)).text()
    break
  }
  return async () => {
    const used_ms = processorTime(server.pid)
    server.kill("SIGKILL")
    await once(server, "close")
    return used_ms
  }
}

const timed = async <A>(work: () => Promise<A>): Promise<readonly [ms: number, result: A]> => {
  const began = performance.now()
  const result = await work()
  return [performance.now() - began, result]
}

/** Measures the starts of the program and of a program that embeds it, alternately with a bundle and without. */
export const start = benchmark({
  about:
    "how long workshop --help takes, workshop serve --store memory and a program with Express to their first response, and the import of each public entry",
  options: {
    times: { about: "how often each is started; the result is the median", value: "9" },
    imports: { about: "how often each public entry is imported; the result is the median", value: "3" }
  },
  args: { usual: ["--times", "3"], quick: ["--times", "1", "--imports", "1"] },
  run: async ({ times, imports }) => {
    const durations = new Map<string, Array<number>>()
    const note = (name: string, ms: number) => durations.set(name, [...(durations.get(name) ?? []), ms])
    const noteServer = async (name: string, args: ReadonlyArray<string>, path: string) => {
      const port = await Effect.runPromise(freePort)
      const [ms, stop] = await timed(() => toTheFirstResponse(args, path, port))
      note(name, ms)
      note(`${name}, processor time`, await stop())
    }
    const folder = mkdtempSync(join(tmpdir(), "workshop-start-"))
    await bundleExpress(folder)
    for (let i = 0; i < Number(times); i++) {
      console.error(`start ${i + 1}/${times}`)
      note("node alone", (await timed(() => toItsEnd(["-e", ""])))[0])
      for (const [name, program] of Object.entries(programs)) {
        note(`--help, ${name}`, (await timed(() => toItsEnd([program, "--help"])))[0])
        const serve = [program, "serve", "--store", "memory", "--port", "0"]
        await noteServer(`serve --store memory, ${name}`, serve, "/healthz")
      }
      await noteServer("Express program, bundled", [join(folder, "main.mjs")], "/counter/1")
      await noteServer("Express program, module by module", [express], "/counter/1")
    }
    rmSync(folder, { recursive: true })
    const rows = [...durations].map(([work, times]): Row => {
      const target = TARGETS[work]
      return {
        work,
        unit: "ms",
        ours: Math.round(median(times)),
        ...(target === undefined ? {} : { target, goal: target })
      }
    })
    return { rows, table: await importCosts(Number(imports)) }
  }
})
