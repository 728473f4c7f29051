import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { Agent, get } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, Exit, Scope } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { testDatabase } from "../packages/store-pg/test/cluster/TestDatabase.js"
import { publishedPackages } from "../scripts/publishedPackages.mjs"
import { freePort } from "./freePort.js"
import { RUNS_ALL } from "./runsAll.js"

// These tests follow the pages on embedding exactly, in an empty project, with the packages as npm would publish them.
// Those that compile and start a project run only if RUNS_ALL is set, because they take a tenth of the time of npm
// test. test/docs.test.ts always compiles the code of the pages.

const root = fileURLToPath(new URL("..", import.meta.url))
const tsc = join(root, "node_modules/.bin/tsc")

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const folder = mkdtempSync(join(tmpdir(), "workshop-embedded-"))
afterAll(() => rmSync(folder, { recursive: true }), 60_000)

/** Installs a third-party package as a link, because the tests run without a network. */
const link = (name: string, into: string, owner = root) => {
  const place = join(into, "node_modules", name)
  // npm installs a version that only one package needs in the node_modules of that package.
  const installed = [owner, root]
    .map((folder) => join(folder, "node_modules", name))
    .find((folder) => existsSync(folder))
  // An optional package for another platform is not installed in the repository either.
  if (existsSync(place) || installed === undefined) return
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(installed, place)
}

/**
 * Unpacks the tarball of a package into a project, with links to exactly the dependencies that the package declares.
 */
const install = (name: string, project: string) => {
  const place = join(project, "node_modules/@workshop", name)
  if (existsSync(place)) return
  mkdirSync(place, { recursive: true })
  execFileSync("tar", ["-xzf", join(folder, `workshop-${name}-0.1.0.tgz`), "-C", place, "--strip-components=1"])
  const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8")) as Manifest
  const needed = { ...manifest.dependencies, ...manifest.optionalDependencies }
  const outside = Object.keys(needed).filter((dependency) => !dependency.startsWith("@workshop/"))
  for (const dependency of outside) link(dependency, place, join(root, "packages", name))
}

/**
 * The files of a page by name: each block whose first line is `// src/…`, and the page's `json` block as tsconfig.json.
 */
const filesOf = (page: string): ReadonlyMap<string, string> => {
  const text = readFileSync(join(root, "docs", page), "utf8")
  const named = [...text.matchAll(/^```ts\n\/\/ (src\/[\w/.-]+\.ts)\n([\s\S]*?)^```/gm)]
  const config = /^```json\n([\s\S]*?)^```/m.exec(text)?.[1] ?? ""
  return new Map([["tsconfig.json", config], ...named.map(([, name = "", body = ""]) => [name, body] as const)])
}

/** The names of our packages whose tarballs the page's commands install. */
const installedBy = (page: string): ReadonlyArray<string> => [
  ...new Set(
    [...readFileSync(join(root, "docs", page), "utf8").matchAll(/^npm install (.*workshop-core.*)$/gm)].flatMap(
      ([, line = ""]) => [...line.matchAll(/workshop-([a-z-]+)-0\.1\.0\.tgz/g)].map(([, name = ""]) => name)
    )
  )
]

/** A database that exists until it is disposed, with the schema `public` for the program's own tables. */
const heldDatabase = async () => {
  const scope = await Effect.runPromise(Scope.make())
  const { url } = await Effect.runPromise(Scope.extend(testDatabase, scope))
  return {
    url: `${url}?options=${encodeURIComponent("-c search_path=public")}`,
    [Symbol.asyncDispose]: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** The first `ts` block of a page that contains a text. */
const blockWith = (page: string, name: string): string => {
  const text = readFileSync(join(root, "docs", page), "utf8")
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].find(([, body = ""]) => body.includes(name))?.[1] ?? ""
}

const follow = (page: string, outside: ReadonlyArray<string>) => {
  const project = join(folder, page.replace(".md", ""))
  for (const name of publishedPackages) install(name, project)
  for (const name of ["effect", "@effect/platform", "@types/node", "typescript", ...outside]) link(name, project)
  writeFileSync(join(project, "package.json"), '{ "type": "module" }')
  for (const [name, body] of filesOf(page)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), body)
  }
  return project
}

const compile = (project: string): string => spawnSync(tsc, ["-p", project], { encoding: "utf8" }).stdout

/** Runs the tests of a project with Vitest, and returns the output. */
const testedIn = (project: string, ...files: ReadonlyArray<string>): string => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  return spawnSync(process.execPath, [vitest, "run", "--globals", "--root", project, ...files], {
    cwd: project,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" }
  }).stdout
}

let running: ChildProcess | undefined
const stop = async () => {
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
  const ended = new Promise((resolve) => running?.once("exit", resolve))
  running.kill("SIGTERM")
  await ended
}
afterEach(stop)

const SERVICES_BEGIN = "Services begin"

/** Changes the built project so that its services wait at their start until its folder contains a file `go`. */
const holdServices = (project: string): void => {
  const file = join(project, "dist/Workshop.js")
  const held = readFileSync(file, "utf8").replace("export const layer =", "const built =")
  writeFileSync(
    file,
    `${held}
import { Effect as E, Layer as L, Schedule } from "effect"
import { existsSync } from "node:fs"
const isFree = E.repeat(E.sync(() => existsSync("go")), { until: (is) => is, schedule: Schedule.spaced("5 millis") })
export const layer = L.provide(built, L.effectDiscard(E.zipRight(E.sync(() => console.log("${SERVICES_BEGIN}")), isFree)))
`
  )
}

/**
 * Starts a program, and waits until it listens. With {@link holdServices}, calls `starting` while its services wait.
 */
const run = async (
  project: string,
  program: string,
  { starting, env = {} }: { starting?: (base: string) => Promise<unknown>; env?: Readonly<Record<string, string>> } = {}
): Promise<string> => {
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [program], {
    cwd: project,
    env: { ...process.env, PORT: String(port), ...env }
  })
  running = child
  let output = ""
  const printed = (text: string) =>
    new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => {
          output += chunk
          if (output.includes(text)) resolve()
        })
      child.once("exit", () => reject(new Error(output)))
    })
  const listening = printed("Listening on")
  if (starting !== undefined) {
    await printed(SERVICES_BEGIN)
    await starting(base)
  }
  await listening
  return base
}

const dropOff = async (base: string, body: unknown) => {
  const headers = { cookie: "session=amira", "content-type": "application/json" }
  const response = await fetch(`${base}/drop-off`, { method: "POST", headers, body: JSON.stringify(body) })
  return `${response.status} ${await response.text()}`
}

const tickets = async (base: string) => {
  const response = await fetch(`${base}/workshop/v1/tickets`, { headers: { cookie: "session=amira" } })
  const { data } = (await response.json()) as { readonly data: ReadonlyArray<{ readonly service: string }> }
  return data.map(({ service }) => service)
}

/**
 * Stops the server while ten clients with keep-alive connections send requests. Returns the distinct results of the
 * requests.
 */
const stoppedUnderLoad = async (url: string): Promise<ReadonlyArray<string>> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 10 })
  const results = new Set<string>()
  const sent = () =>
    new Promise<string>((resolve) => {
      get(url, { agent, headers: { cookie: "session=amira" } }, (response) =>
        response.resume().once("end", () => resolve("a response"))
      ).once("error", (error: NodeJS.ErrnoException) => resolve(String(error.code)))
    })
  let count = 0
  let stopped: Promise<void> | undefined
  const client = async () => {
    for (let result = ""; result !== "ECONNREFUSED"; results.add(result)) {
      result = await sent()
      if (++count === 100) stopped = stop()
    }
  }
  await Promise.all(Array.from({ length: 10 }, client))
  await stopped
  agent.destroy()
  return [...results]
}

beforeAll(() => {
  spawnSync(tsc, ["-b", ...publishedPackages.map((name) => `packages/${name}`)], { cwd: root })
  const workspaces = publishedPackages.flatMap((name) => ["-w", `packages/${name}`])
  execFileSync("npm", ["pack", "--pack-destination", folder, ...workspaces], { cwd: root, stdio: "pipe" })
}, 180_000)

describe("the packages as published, in an empty project", () => {
  it.runIf(RUNS_ALL)(
    "the app of docs/embed-express.md compiles, serves, and changes its store in one file",
    { timeout: 240_000 },
    async () => {
      const project = follow("embed-express.md", ["express", "@types/express"])
      expect(compile(project)).toBe("")
      const base = await run(project, "dist/server.js")
      expect(await dropOff(base, { service: "Hem", order: "17" })).toBe('200 {"number":"0001"}')
      expect(await dropOff(base, { service: "Hem", order: "17" })).toBe('200 {"number":"0001"}')
      expect(await dropOff(base, { service: "", order: "18" })).toMatch(/^400 .*must be 1 to 120 characters/)
      expect(await tickets(base)).toEqual(["Hem"])
      await stop()

      const bundling =
        /^npx esbuild (dist\/.*)$/m.exec(readFileSync(join(root, "docs/embed-express.md"), "utf8"))?.[1] ?? ""
      const options = [...bundling.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = ""]) => quoted ?? plain)
      execFileSync(join(root, "node_modules/.bin/esbuild"), [...options, "--log-level=error"], { cwd: project })
      expect(await dropOff(await run(project, "bundle/server.mjs"), { service: "Hem", order: "17" })).toBe(
        '200 {"number":"0001"}'
      )
      await stop()

      for (const name of ["Journal.ts", "JournalStore.ts"])
        copyFileSync(join(root, "examples/custom-store", name), join(project, "src", name))
      const swapped = 'import { layer } from "./JournalStore.js"\nexport const store = layer("workshop.journal")\n'
      writeFileSync(join(project, "src/store.ts"), swapped)
      expect(compile(project)).toBe("")
      expect(await dropOff(await run(project, "dist/server.js"), { service: "Hem", order: "17" })).toBe(
        '200 {"number":"0001"}'
      )
      await stop()
      expect(readFileSync(join(project, "workshop.journal"), "utf8")).toContain('"ticket.created"')

      writeFileSync(join(project, "src/store.ts"), blockWith("embed-express.md", "EmbeddedStore"))
      expect(compile(project)).toBe("")
      expect(await dropOff(await run(project, "dist/server.js"), { service: "Hem", order: "17" })).toBe(
        '200 {"number":"0001"}'
      )
    }
  )

  it.runIf(RUNS_ALL)(
    "the apps of docs/embed-frameworks.md compile and serve: plain Node, Fastify, Hono, Next and Nest",
    { timeout: 120_000 },
    async () => {
      const project = follow("embed-frameworks.md", ["fastify", "hono", "express", "@types/express"])
      expect(compile(project)).toBe("")
      const body = JSON.stringify({ service: "Hem" })
      const headers = { cookie: "session=amira", "content-type": "application/json", "idempotency-key": "17" }
      const url = "/workshop/v1/tickets"
      for (const program of ["dist/node.js", "dist/fastify.js"]) {
        const base = await run(project, program)
        expect((await fetch(`${base}${url}`, { method: "POST", headers, body })).status).toBe(201)
        expect(await tickets(base)).toEqual(["Hem"])
        expect((await fetch(`${base}${url}`)).status).toBe(401)
        expect((await fetch(`${base}/elsewhere`)).status).toBe(404)
        await stop()
      }
      const program = `import express from "express"
import hono from "./dist/hono.js"
import * as next from "./dist/next.js"
import { apiOf, workshopProviders } from "./dist/workshop.providers.js"
import { workshop } from "./dist/workshop.js"
const asked = (cookie, init = {}) => new Request("http://shop.test${url}", { ...init, headers: { ...${JSON.stringify(headers)}, cookie } })
const app = express()
app.use(express.json())
const nestWorkshop = await workshopProviders[0].useFactory()
const nestShop = await workshopProviders[1].useFactory(nestWorkshop)
const api = apiOf(nestWorkshop)
app.all("/workshop/v1/*path", (request, response, next) => {
  if (request.get("cookie") === "session=amira") request.user = { id: "amira", shop_id: nestShop.id }
  api(request, response, next)
})
const server = app.listen(0, "127.0.0.1")
await new Promise((resolve) => server.once("listening", resolve))
const nest = (await fetch("http://127.0.0.1:" + server.address().port + "${url}", { headers: { cookie: "session=amira" } })).status
const made = (await next.POST(asked("session=amira", { method: "POST", body: ${JSON.stringify(body)} }))).status
console.log(made, nest,
  (await next.GET(asked("session=amira"))).status, (await next.GET(asked("nobody"))).status,
  (await hono.fetch(asked("nobody"), { SESSION: "session=amira" })).status, (await hono.fetch(asked("nobody"), {})).status)
await hono.scheduled()
server.close()
await nestWorkshop.stop()
await workshop.stop()`
      writeFileSync(join(project, "asked.mjs"), program)
      const { stdout, stderr } = spawnSync(process.execPath, ["asked.mjs"], { cwd: project, encoding: "utf8" })
      expect([stdout.trim(), stderr]).toEqual(["201 200 200 401 200 401", ""])
    }
  )

  it.runIf(RUNS_ALL)(
    "the tests of docs/test-your-app.md pass with Vitest, with Jest's globals and with node:test",
    {
      timeout: 120_000
    },
    () => {
      const project = follow("test-your-app.md", ["vitest"])
      writeFileSync(join(project, "tsconfig.json"), filesOf("embed-frameworks.md").get("tsconfig.json") ?? "")
      expect(compile(project)).toBe("")
      const node = spawnSync(process.execPath, ["--test", "dist/webhook.test.js"], { cwd: project, encoding: "utf8" })
      expect([node.status, /^# pass 1$|ℹ pass 1$/m.test(node.stdout)]).toEqual([0, true])
      // Jest provides its functions as globals, so the test must also run without the import.
      const imports = /^import .* from "vitest"\n/m
      const text = filesOf("test-your-app.md").get("src/abandoned.test.ts") ?? ""
      writeFileSync(join(project, "src/jest.test.ts"), text.replace(imports, ""))
      expect(testedIn(project, "src/abandoned.test.ts", "src/jest.test.ts")).toMatch(/Tests +2 passed/)
    }
  )

  it.each(["embed-drizzle.md", "embed-express.md", "embed-effect.md", "embed-frameworks.md"])(
    "docs/%s installs all packages of this project that its packages depend on, because the registry does not have them",
    (page) => {
      const names = installedBy(page)
      expect(names).toContain("core")
      const needed = names.flatMap((name) => {
        const { dependencies = {} } = JSON.parse(
          readFileSync(join(root, "packages", name, "package.json"), "utf8")
        ) as Manifest
        return Object.keys(dependencies).filter((dependency) => dependency.startsWith("@workshop/"))
      })
      expect(needed.filter((name) => !names.includes(name.slice("@workshop/".length)))).toEqual([])
    }
  )

  it("the pages install the versions of @effect/sql and @effect/sql-pg that the store depends on", () => {
    const { dependencies = {} } = JSON.parse(
      readFileSync(join(root, "packages/store-pg/package.json"), "utf8")
    ) as Manifest
    const used = (name: string) => `${name}@${dependencies[name]?.replace(/^\^|\.\d+$/g, "")}`
    for (const page of ["embed-effect.md", "your-database.md"]) {
      const installed = readFileSync(join(root, "docs", page), "utf8").match(/npm install [^`\n]*@effect\/sql[^`\n]*/g)
      expect(installed).toEqual([`npm install ${used("@effect/sql")} ${used("@effect/sql-pg")}`])
    }
  })

  it("the command line runs in a project that installs it", { timeout: 60_000 }, () => {
    const bin = join(follow("embed-express.md", []), "node_modules/@workshop/cli/bin/workshop.js")
    const { stdout, status } = spawnSync(process.execPath, [bin, "openapi"], { cwd: folder, encoding: "utf8" })
    expect([status, JSON.parse(stdout).openapi]).toEqual([0, "3.1.0"])
  })

  it.runIf(RUNS_ALL)(
    "the app of docs/embed-effect.md compiles and serves, and its test passes",
    { timeout: 120_000 },
    async () => {
      const outside = ["@effect/platform-node", "@effect/sql", "@effect/sql-pg", "@effect/vitest", "vitest"]
      const project = follow("embed-effect.md", outside)
      expect(compile(project)).toBe("")
      expect(testedIn(project, "src/abandoned.test.ts")).toMatch(/Tests +1 passed/)
      const base = await run(project, "dist/main.js")
      expect(await dropOff(base, { ticket: { service: "Hem" }, order: "17" })).toBe('200 {"number":"0001"}')
      expect(await dropOff(base, { ticket: { servce: "Hem" }, order: "18" })).toMatch(
        /^400 .*"ticket\.service","message":"is required"/
      )
      const long = { ticket: { service: "x".repeat(70_000) }, order: "19" }
      await expect(dropOff(base, long)).rejects.toThrow("fetch failed")
      expect(await tickets(base)).toEqual(["Hem"])
      expect(await stoppedUnderLoad(`${base}/workshop/v1/tickets`)).toEqual(["a response", "ECONNREFUSED"])
      await stop()

      writeFileSync(join(project, "src/Store.ts"), blockWith("embed-effect.md", "MigratedStore.layerConfig"))
      expect(compile(project)).toBe("")
      holdServices(project)
      await using database = await heldDatabase()
      const env = { DATABASE_URL: database.url, HOOK_URL: "https://shop.example.com/hook" }
      const joined = await run(project, "dist/serve.js", {
        env,
        starting: async (base) => {
          // The server must not listen yet, because it would accept the request and never respond without routes.
          await expect(fetch(base)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } })
          writeFileSync(join(project, "go"), "")
        }
      })
      const status = async (path: string, cookie: string) => {
        const response = await fetch(`${joined}${path}`, { headers: { cookie } })
        return `${response.status} ${await response.text()}`
      }
      const headers = { cookie: "session=amira", "content-type": "application/json" }
      const body = JSON.stringify({ id: "A1", customer: "Ada", ticket: { service: "Hem" } })
      const placed = await fetch(`${joined}/orders`, { method: "POST", headers, body })
      expect([placed.status, await placed.json()]).toEqual([201, { id: "A1", number: "0001" }])
      expect(await status("/orders/A1", "session=zoe")).toBe('200 {"id":"A1","state":"workshop"}')
      expect(await status("/readyz", "")).toBe('200 {"ready":true}')
      expect(await status("/metrics", "")).toMatch(/^200 .*^workshop_/ms)
      expect(await status("/workshop/v1/tickets", "session=nobody")).toMatch(/^401 .*"code":"UNAUTHENTICATED"/)
      expect(await status("/workshop/v1/nowhere", "session=amira")).toMatch(/^404 .*"code":"NOT_FOUND"/)
      expect(await stoppedUnderLoad(`${joined}/orders/A1`)).toEqual(["a response", "ECONNREFUSED"])
      await stop()
    }
  )

  it("only the entry points of the packages can be loaded, with import and with require", { timeout: 60_000 }, () => {
    const project = follow("embed-express.md", [])
    const names = publishedPackages.flatMap((name) => {
      const { exports } = JSON.parse(
        readFileSync(join(project, "node_modules/@workshop", name, "package.json"), "utf8")
      )
      return Object.keys(exports).flatMap((entry) =>
        entry === "./package.json" ? [] : [`@workshop/${name}${entry.slice(1)}`]
      )
    })
    writeFileSync(join(project, "names.json"), JSON.stringify(names))
    const program = `const names = require("./names.json")
for (const name of names) require(name)
let inner = ""
try { require("@workshop/core/domain/Limits") } catch (error) { inner = error.code }
import("@workshop/core").then(({ Limits }) =>
  console.log(names.length, require("@workshop/core").Limits === Limits, inner)
)`
    writeFileSync(join(project, "load.cjs"), program)
    const { stdout } = spawnSync(process.execPath, ["load.cjs"], { cwd: project, encoding: "utf8" })
    expect(stdout.trim()).toBe(`${names.length} true ERR_PACKAGE_PATH_NOT_EXPORTED`)
    expect(names.filter((name) => name.startsWith("@workshop/cli/"))).toHaveLength(5)
    expect(names.length).toBeGreaterThan(20)
  })

  it.runIf(RUNS_ALL)("the packages compile with the oldest TypeScript that README names", { timeout: 180_000 }, () => {
    const place = join(root, "test/smallest-typescript")
    const project = follow("embed-express.md", ["express", "@types/express"])
    copyFileSync(join(place, "consumer.ts"), join(project, "src/consumer.ts"))
    const smallest = join(place, "node_modules/typescript/bin/tsc")
    const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8"))
    const version: string = manifest.devDependencies.typescript
    const run = (...args: ReadonlyArray<string>) =>
      spawnSync(process.execPath, [smallest, ...args], { cwd: project, encoding: "utf8" }).stdout
    expect(run("--version").trim()).toBe(`Version ${version}`)
    expect(run("-p", project, "--noEmit")).toBe("")
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain(
      `TypeScript ${version.split(".").slice(0, 2).join(".")} or later`
    )
  })

  it("the declarations of the Promise API are short, name arguments and types, and describe each field", {
    timeout: 60_000
  }, () => {
    const project = follow("embed-express.md", [])
    const types = (path: string) => readFileSync(join(project, "node_modules/@workshop", path), "utf8")
    const declarations = types("core/dist/services/promise/PromiseApi.d.ts")
    expect(declarations).toMatch(/create: \(caller: [^ ]*PlainCaller, ticket: [^ ]*PlainTicket, key: string\)/)
    expect(declarations).not.toContain("args_")
    const face = declarations.slice(declarations.indexOf("const promiseApi")).replaceAll(/import\("[^"]*"\)\./g, "")
    const methods = [...face.matchAll(/^ {8}(\w+): (\([\s\S]*?>>);$/gm)].map(([, name = "", text = ""]) => [
      name,
      text.replaceAll(/\/\*\*[\s\S]*?\*\/|\s+/g, " ")
    ])
    expect(methods.length).toBeGreaterThan(45)
    expect(methods.filter(([, text = ""]) => text.length >= 400)).toEqual([])
    // Each field of the inputs has a docstring.
    const inputs = types("core/dist/services/promise/PlainInputs.d.ts")
    const fieldsOfInputs = [...inputs.matchAll(/^ {4}readonly (\w+)/gm)].length
    expect(fieldsOfInputs).toBeGreaterThan(60)
    expect([...inputs.matchAll(/^ {4}\/\*\* .+ \*\/\n {4}readonly /gm)]).toHaveLength(fieldsOfInputs)
    // Each field of the generated interfaces has a docstring too, also within anonymous objects.
    for (const [path, min] of [
      ["client/dist/types.d.ts", 90],
      ["webhooks/dist/events.d.ts", 120]
    ] as const) {
      const lines = types(path).split("\n")
      const fields = lines.flatMap((line, i) => (/^ +readonly /.test(line) ? [[line.trim(), lines[i - 1] ?? ""]] : []))
      expect(fields.length).toBeGreaterThan(min)
      expect(fields.filter(([, above = ""]) => !/^ +\/\*\* [\w`].+\. \*\/$/.test(above))).toEqual([])
    }
  })

  it("every record that a method of the Promise API accepts or returns has an exported name and a docstring for each field", {
    timeout: 60_000
  }, () => {
    const dist = join(follow("embed-express.md", []), "node_modules/@workshop/core/dist")
    const inputNames = readFileSync(join(dist, "services/promise/PlainInputs.d.ts"), "utf8")
    const itself = readFileSync(join(dist, "promise.d.ts"), "utf8")
    const entry = /export type \* from "\.\/services\/promise\/PlainInputs\.js"/.test(itself)
      ? itself + inputNames
      : itself
    const face = readFileSync(join(dist, "services/promise/PromiseApi.d.ts"), "utf8")
    const declarations = face.slice(face.indexOf("const promiseApi")).replaceAll(/import\("[^"]*"\)\./g, "")
    const values = [
      ...declarations.matchAll(
        /\b([A-Z]\w+(?:Record|Account|View|Entry|Delivery|Status|Export|ShopSnapshot|Given|Redeemed))\b/g
      )
    ]
    const inputs = [...declarations.matchAll(/\b(?:Plain|Their)[A-Z]\w+/g)]
    const names = new Set([...values.map(([, name = ""]) => name), ...inputs.map(([name]) => name)])
    expect(names.size).toBeGreaterThan(25)
    expect([...names].filter((name) => !new RegExp(`\\b${name}\\b`).test(entry))).toEqual([])
    for (const [file, record] of [
      ["Shop", "ShopRecord"],
      ["ApiKey", "ApiKeyRecord"],
      ["Webhook", "NoticeRecord"],
      ["Webhook", "WebhookStatus"],
      ["Notification", "NotificationRecord"],
      ["Notification", "ClientNotification"],
      ["Offer", "OfferRecord"],
      ["Client", "ClientAccount"],
      ["Event", "EventRecord"],
      ["AuditEntry", "AuditEntry"]
    ]) {
      const text = readFileSync(join(dist, "domain", `${file}.d.ts`), "utf8")
      const lines = (new RegExp(`interface ${record} [^\n]*\\{\n([\\s\\S]*?)\n\\}`).exec(text)?.[1] ?? "").split("\n")
      const fields = lines.flatMap((line, i) =>
        /^ {4}readonly /.test(line) ? [[line.trim(), lines[i - 1] ?? ""]] : []
      )
      expect([record, fields.length > 0]).toEqual([record, true])
      expect(fields.filter(([, above = ""]) => !/\. \*\/$/.test(above))).toEqual([])
    }
  })

  it("the sections that docstrings name exist on a page of the package", { timeout: 60_000 }, () => {
    const core = join(follow("embed-express.md", []), "node_modules/@workshop/core")
    const headings = new Set(
      [...readFileSync(join(core, "specification.md"), "utf8").matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    )
    const files = execFileSync("find", [join(core, "dist"), "-name", "*.d.ts"], { encoding: "utf8" })
      .trim()
      .split("\n")
    const named = files.flatMap((file) =>
      [
        ...readFileSync(file, "utf8")
          .replaceAll(/\n\s*\* /g, " ")
          .matchAll(/\(Specification, ([^):,]+)/g)
      ].flatMap(([, text = ""]) => text.split(/;\s+(?:\*\s+)?/))
    )
    expect(named.length).toBeGreaterThan(200)
    expect([...new Set(named)].filter((section) => !headings.has(section.trim()))).toEqual([])
  })

  it("@workshop/client and @workshop/webhooks run without other packages, in under 10 kB of code each", {
    timeout: 60_000
  }, () => {
    const project = join(folder, "bare")
    // Sizes in bytes: `code` is the JavaScript, and `installed` the whole package (docs/decisions.md, Embedding).
    const bounds = { client: { code: 9000, installed: 45_000 }, webhooks: { code: 4500, installed: 30_000 } }
    for (const [name, { code, installed }] of Object.entries(bounds)) {
      const place = join(project, "node_modules/@workshop", name)
      install(name, project)
      expect(JSON.parse(readFileSync(join(place, "package.json"), "utf8"))).not.toHaveProperty("dependencies")
      expect(statSync(join(folder, `workshop-${name}-0.1.0.tgz`)).size).toBeLessThan(14_000)
      const files = readdirSync(place, { recursive: true, encoding: "utf8", withFileTypes: true }).filter((entry) =>
        entry.isFile()
      )
      const bytes = (ends: string) =>
        files
          .filter((file) => file.name.endsWith(ends))
          .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
      expect(bytes(".js")).toBeLessThan(code)
      expect(bytes("")).toBeLessThan(installed)
      expect(files.filter((file) => !/\.js$|\.d\.ts$|^(LICENSE|README\.md|package\.json)$/.test(file.name))).toEqual([])
    }
    const program = `import { createClient } from "@workshop/client"
import { receive, sign } from "@workshop/webhooks"
const client = createClient({ baseUrl: "http://127.0.0.1:9", key: "wk_live_x", retries: 0 })
const answer = await client.shop.read()
const body = JSON.stringify({ id: "1", type: "ping" })
const received = await receive(body, await sign(body, "whsec_x"), "whsec_x")
console.log(answer.ok, answer.error.code, received.event.type)`
    writeFileSync(join(project, "bare.mjs"), program)
    const { stdout, stderr } = spawnSync(process.execPath, ["bare.mjs"], { cwd: project, encoding: "utf8" })
    expect(stderr).toBe("")
    expect(stdout.trim()).toBe("false UNREACHABLE ping")
  })
})
