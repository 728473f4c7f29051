// npm run test:installs installs the packed packages in empty projects, as their users do. It needs the npm registry.
// Names select some of the projects: npm run test:installs -- npm pnpm bun typescript eslint jest next next-postgres
// nest nest-postgres drizzle effect-drizzle knex worker.
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { sign } from "../packages/webhooks/dist/index.js"
import { publishedPackages } from "./publishedPackages.mjs"

const folder = mkdtempSync(join(tmpdir(), "workshop-installs-"))
/** The packages that install a Postgres of 60 MB, so only the projects that use them install them. */
const LARGE = ["cli", "store-pg"]
const NEEDED = publishedPackages.filter((name) => !LARGE.includes(name))
const TYPESCRIPT = ["5.4", "5.5", "5.6", "5.7", "5.8", "5.9", "6", "7"]
/** The TypeScript version from which the types compile without `skipLibCheck`. */
const WHOLE_TYPES = 5.7

/** @param {string} command @param {ReadonlyArray<string>} args @param {string} cwd @param {Record<string, string>} env */
const run = (command, args, cwd, env = {}) => {
  try {
    return execFileSync(command, args, {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, CI: "1", ...env }
    })
  } catch (error) {
    const { stdout, stderr } = /** @type {{ stdout: string, stderr: string }} */ (error)
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`)
  }
}

/** @param {string} name */
const tarball = (name) => `file:${join(folder, `workshop-${name}-0.1.0.tgz`)}`
/** @param {ReadonlyArray<string>} names */
const byName = (names) => Object.fromEntries(names.map((name) => [`@workshop/${name}`, tarball(name)]))
const tarballs = byName(NEEDED)
const overrides = byName(publishedPackages)

/** The files of a page, each a block that begins with the file's path. @param {string} page */
const filesOf = (page) =>
  [...readFileSync(`docs/${page}`, "utf8").matchAll(/^```(?:ts|text)\n\/\/ (src\/[\w/.-]+\.ts)\n([\s\S]*?)^```/gm)].map(
    ([, path = "", body = ""]) => [path, body]
  )

/** The configuration of docs/embed-drizzle.md. @param {string} place */
const writeDrizzleConfig = (place) => {
  const [, config = ""] =
    /^```text\n\/\/ drizzle\.config\.ts\n([\s\S]*?)^```/m.exec(readFileSync("docs/embed-drizzle.md", "utf8")) ?? []
  writeFileSync(join(place, "drizzle.config.ts"), config)
}

/**
 * Runs a statement with the `pg` of a project, and returns its rows.
 * @param {string} place
 * @param {string} url
 * @param {string} sql
 */
const query = (place, url, sql) => {
  const program = `import pg from "pg"
const client = new pg.Client({ connectionString: process.env.DATABASE_URL })
await client.connect()
console.log(JSON.stringify((await client.query(process.env.SQL)).rows))
await client.end()
`
  return JSON.parse(run("node", ["--input-type=module", "--eval", program], place, { DATABASE_URL: url, SQL: sql }))
}

/** Closes all connections to a database, as a restart of Postgres does. @param {string} place @param {string} url */
const endConnections = (place, url) => {
  const others = "pid <> pg_backend_pid() and backend_type = 'client backend'"
  query(place, url, `select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
}

/**
 * Creates a project with the files of a page.
 * @param {string} name
 * @param {string} page
 * @param {object} dependencies
 */
const project = (name, page, dependencies) => {
  const place = join(folder, name)
  const manifest = {
    type: "module",
    dependencies: { effect: "3", "@effect/platform": "0.97", ...tarballs, ...dependencies },
    // The packages depend on each other by version, but are not in the registry.
    overrides,
    pnpm: { overrides }
  }
  const files = [
    ["package.json", JSON.stringify(manifest)],
    ["tsconfig.json", /^```json\n([\s\S]*?)^```/m.exec(readFileSync("docs/embed-express.md", "utf8"))?.[1] ?? ""],
    ...filesOf(page)
  ]
  for (const [path = "", body = ""] of files) {
    mkdirSync(dirname(join(place, path)), { recursive: true })
    writeFileSync(join(place, path), body)
  }
  return place
}

const EXPRESS = { express: "5", "@types/express": "5", "@types/node": "20", typescript: "5.9" }

/** Creates a ticket. @param {string} base */
const createTicket = async (base) => {
  const headers = { cookie: "session=amira", "content-type": "application/json", "idempotency-key": "1" }
  const { status } = await fetch(`${base}/workshop/v1/tickets`, { method: "POST", headers, body: '{"service":"Hem"}' })
  if (status !== 201) throw new Error(`The server responded with ${status}`)
}

/** @typedef {(base: string, child: import("node:child_process").ChildProcess) => Promise<void>} Ask */

/**
 * Starts the server of a project, and sends it requests.
 * @param {string} program
 * @param {ReadonlyArray<string>} args
 * @param {string} cwd
 * @param {number} port
 * @param {Record<string, string>} env
 */
const serve = async (program, args, cwd, port, env = {}, ask = /** @type {Ask} */ (createTicket)) => {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true
  })
  try {
    let output = ""
    child.stdout.on("data", (text) => {
      output += text
    })
    const base = `http://127.0.0.1:${port}`
    // Nest prints that it has started before it listens.
    for (let tries = 0; !(await fetch(base).then(Boolean, () => false)); tries++) {
      if (tries === 300 || child.exitCode !== null) throw new Error(`The server does not listen:\n${output}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await ask(base, child)
  } finally {
    // The whole process group is killed, because npx starts other processes.
    if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL")
  }
}

/**
 * Stops a server. An idle connection must not delay its end.
 * @param {string} base
 * @param {import("node:child_process").ChildProcess} child
 */
const endsThoughIdle = async (base, child) => {
  const { hostname, port } = new URL(base)
  const idle = connect(Number(port), hostname)
  await once(idle, "connect")
  idle.on("error", () => {})
  child.kill("SIGTERM")
  await once(child, "exit", { signal: AbortSignal.timeout(10_000) })
}

/**
 * Runs work with the embedded Postgres of a project.
 * @param {string} place
 * @param {(url: string) => Promise<void>} work
 */
const withPostgres = async (place, work) => {
  const program = `import { startServer, THROWAWAY_SETTINGS } from "@workshop/store-pg/embedded"
import { Effect } from "effect"
const running = Effect.flatMap(startServer({ dataDir: ".postgres", settings: THROWAWAY_SETTINGS }), ({ url }) => {
  console.log(url)
  return Effect.never
})
const fiber = Effect.runFork(Effect.scoped(running))
process.once("SIGTERM", () => Effect.runFork(fiber.interruptAsFork(fiber.id())))
`
  writeFileSync(join(place, "postgres.mjs"), program)
  const child = spawn("node", ["postgres.mjs"], { cwd: place, stdio: ["ignore", "pipe", "inherit"] })
  const ended = new Promise((resolve) => child.once("exit", resolve))
  try {
    for await (const text of child.stdout) {
      await work(String(text).trim())
      break
    }
  } finally {
    child.kill("SIGTERM")
    await ended
  }
}

/**
 * Creates a project like that of `nest new`, with the guide's files.
 * @param {string} name
 * @param {object} dependencies
 */
const nestProject = (name, dependencies) => {
  const packages = ["common", "core", "platform-express"].map((part) => [`@nestjs/${part}`, "11"])
  const place = project(name, "embed-frameworks.md", {
    ...{ ...EXPRESS, ...Object.fromEntries(packages), "reflect-metadata": "0.2", rxjs: "7", ...dependencies }
  })
  const manifest = JSON.parse(readFileSync(join(place, "package.json"), "utf8"))
  writeFileSync(join(place, "package.json"), JSON.stringify({ ...manifest, type: undefined }))
  // These are the options of `nest new`, and its module with the guide's import.
  const compilerOptions = {
    ...{ module: "nodenext", resolvePackageJsonExports: true, target: "ES2023", rootDir: "src", outDir: "dist" },
    ...{ esModuleInterop: true, isolatedModules: true, declaration: true, skipLibCheck: true },
    ...{ strictNullChecks: true, emitDecoratorMetadata: true, experimentalDecorators: true }
  }
  const include = [
    ...("drizzle-orm" in dependencies ? ["src/applyEvent*.ts", "src/own-hook.module.ts"] : []),
    "src/main.ts",
    "src/app.module.ts",
    "src/hook.module*.ts",
    "src/keys.module.ts",
    "src/readiness.controller.ts",
    "src/workshop.module*.ts"
  ]
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, include }))
  writeFileSync(
    join(place, "src/app.module.ts"),
    `import { Module } from '@nestjs/common'
import { HookModule } from './hook.module.js'
import { KeysModule } from './keys.module.js'
import { WorkshopModule } from './workshop.module.js'

@Module({ imports: [WorkshopModule, HookModule, KeysModule] })
export class AppModule {}
`
  )
  return place
}

/**
 * Writes a test of Nest's modules for Node's test runner, which runs it like Jest, except for the time-out.
 * @param {string} place
 * @param {string} path
 */
const writeNestSpec = (place, path) => {
  const [, spec = ""] = filesOf("test-your-app.md").find(([name]) => name === path) ?? []
  const globals = 'import { expect } from "expect"\nimport { test } from "node:test"\n'
  writeFileSync(join(place, path), globals + spec.replace("}, 60_000)", "})"))
}

/** Creates, lists and revokes a key through the guide's controller. @param {string} url */
const useKeys = async (url) => {
  const headers = { cookie: "session=amira", "content-type": "application/json" }
  const body = '{"name":"till","scopes":["tickets:read"]}'
  const created = await (await fetch(url, { method: "POST", headers, body })).json()
  const revoke = async (/** @type {string} */ id) => (await fetch(`${url}/${id}`, { method: "DELETE", headers })).status
  const [revoked, unknown] = [await revoke(created.id), await revoke("0198c5f1-0d20-7000-8a4f-2be6c90d1357")]
  const listed = await (await fetch(url, { headers })).json()
  const wrong = await fetch(url, { method: "POST", headers, body: "{}" })
  const strangers = await fetch(url)
  const results = [created.key.startsWith("wk_live_"), revoked, unknown, listed.length, listed[0].revoked_at > 0]
  results.push("hash" in listed[0], wrong.status, strangers.status)
  if (results.join() !== "true,204,404,1,true,false,400,403")
    throw new Error(`The keys' controller responded ${results}`)
}

/**
 * Builds and serves the guide's route handler with Next.
 * @param {string} name
 * @param {object} dependencies
 * @param {(workshop: string) => string} changed
 */
const nextProject = (name, dependencies, changed) => {
  const place = project(name, "embed-frameworks.md", {
    ...{ ...EXPRESS, ...dependencies, next: "15", react: "19", "react-dom": "19", "@types/react": "19" }
  })
  run("npm", ["install"], place)
  const route = join(place, "app/workshop/[...path]")
  mkdirSync(route, { recursive: true })
  writeFileSync(
    join(route, "route.ts"),
    readFileSync(join(place, "src/next.ts"), "utf8").replace("./workshop.js", "./workshop")
  )
  writeFileSync(join(route, "workshop.ts"), changed(readFileSync(join(place, "src/workshop.ts"), "utf8")))
  rmSync(join(place, "src"), { recursive: true })
  // These are the relevant options of create-next-app.
  const compilerOptions = {
    ...{ target: "ES2022", lib: ["dom", "esnext"], module: "esnext", moduleResolution: "bundler", jsx: "preserve" },
    ...{ strict: true, skipLibCheck: true, noEmit: true, esModuleInterop: true }
  }
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["app"] }))
  writeFileSync(
    join(place, "app/layout.tsx"),
    "export default ({ children }: { children: React.ReactNode }) => <html><body>{children}</body></html>\n"
  )
  return place
}

/**
 * Installs, compiles and serves the Express guide.
 * @param {string} name
 * @param {ReadonlyArray<string>} install
 * @param {ReadonlyArray<string>} start
 */
const installed = async (name, install, start) => {
  const place = project(name, "embed-express.md", EXPRESS)
  run("npx", ["--yes", ...install], place)
  run("node_modules/.bin/tsc", [], place)
  const [program = "", ...args] = start
  await serve(program, [...args, "dist/server.js"], place, 4951)
}

/** @type {Readonly<Record<string, () => Promise<void> | void>>} */
const parts = {
  npm: () => installed("npm", ["npm", "install"], ["node"]),
  pnpm: () => installed("pnpm", ["pnpm@9", "install", "--no-frozen-lockfile"], ["node"]),
  bun: () => installed("bun", ["bun", "install"], ["npx", "--yes", "bun"]),
  typescript: () => {
    const aliases = Object.fromEntries(TYPESCRIPT.map((version) => [`ts${version}`, `npm:typescript@${version}`]))
    const place = project("typescript", "embed-express.md", {
      ...{ ...EXPRESS, ...aliases, ...byName(LARGE) }
    })
    copyFileSync("test/smallest-typescript/consumer.ts", join(place, "src/consumer.ts"))
    run("npm", ["install"], place)
    for (const version of TYPESCRIPT) {
      const skips = Number(version) < WHOLE_TYPES ? "true" : "false"
      run("node", [`node_modules/ts${version}/bin/tsc`, "--noEmit", "--skipLibCheck", skips], place)
      console.log(`TypeScript ${version}, skipLibCheck ${skips}`)
    }
  },
  eslint: () => {
    const place = project("eslint", "embed-express.md", { ...EXPRESS, eslint: "9", "typescript-eslint": "8" })
    run("npm", ["install"], place)
    const block =
      /^```ts\n(import \{ plugin as workshop \}[\s\S]*?)^```/m.exec(readFileSync("docs/embed.md", "utf8"))?.[1] ?? ""
    writeFileSync(
      join(place, "eslint.config.js"),
      block.replace(/^\/\/ import/m, "import").replace(/^declare .*$/m, "")
    )
    run("npx", ["eslint", "src"], place)
    writeFileSync(
      join(place, "src/ignored.ts"),
      'import { workshop } from "./workshop.js"\nawait workshop.shops.list(null, 1)\n'
    )
    const report = run("sh", ["-c", "npx eslint src || true"], place)
    if (!report.includes("workshop/ignored-refusal") || !report.includes("1 problem")) throw new Error(report)
  },
  jest: () => {
    const place = project("jest", "test-your-app.md", { ...EXPRESS, jest: "30", "@types/jest": "30" })
    run("npm", ["install"], place)
    // These tests do not run with Jest: one is for node:test, and the others need Nest's modules.
    for (const other of ["webhook.test.ts", "workshop.module.spec.ts", "hook.module.spec.ts", "applyEvent.spec.ts"])
      rmSync(join(place, "src", other))
    const file = join(place, "src/abandoned.test.ts")
    const test = readFileSync(file, "utf8")
    writeFileSync(file, test.replace(/^import .* from "vitest"\n/m, ""))
    // The same test must run with imports, including the object `jest`, which is not a global in an ES module.
    writeFileSync(
      join(place, "src/imported.test.ts"),
      `${test.replace(/"vitest"/, '"@jest/globals"').replace("{ expect, test }", "{ expect, jest, test }")}test("jest.fn", () => expect(jest.fn()).not.toHaveBeenCalled())\n`
    )
    run("node_modules/.bin/tsc", [], place)
    run("node", ["--experimental-vm-modules", "node_modules/jest/bin/jest.js", "dist"], place)
  },
  next: async () => {
    const place = nextProject("next", {}, (workshop) => workshop)
    run("npx", ["next", "build"], place)
    await serve("npx", ["next", "start", "-p", "4952"], place, 4952)
  },
  "next-postgres": async () => {
    // Next bundles the migrations with the route handler.
    const place = nextProject("next-postgres", byName(["store-pg"]), (workshop) =>
      workshop
        .replace(/^import .*store-memory"$/m, 'import { MigratedStore } from "@workshop/store-pg"')
        .replace("MemoryStore.layer", 'MigratedStore.layer({ url: process.env.DATABASE_URL ?? "" })')
    )
    await withPostgres(place, async (url) => {
      run("npx", ["next", "build"], place, { DATABASE_URL: url })
      await serve("npx", ["next", "start", "-p", "4956"], place, 4956, { DATABASE_URL: url })
    })
  },
  nest: async () => {
    const place = nestProject("nest", { "@nestjs/testing": "11", expect: "30" })
    writeNestSpec(place, "src/hook.module.spec.ts")
    run("npm", ["install"], place)
    run("node_modules/.bin/tsc", [], place)
    run("node", ["--test", "dist/hook.module.spec.js"], place)
    const secret = `whsec_${"a".repeat(43)}`
    await serve("node", ["dist/main.js"], place, 4953, { WORKSHOP_SECRET: secret }, async (base, child) => {
      await createTicket(base)
      const body = '{"id":"1","type":"ping"}'
      const post = async (/** @type {string} */ signature) => {
        const headers = { "content-type": "application/json", "service-signature": signature }
        return (await fetch(`${base}/hook`, { method: "POST", headers, body })).status
      }
      const statuses = [await post(await sign(body, secret)), await post("t=1,v1=00")]
      if (statuses.join() !== "200,400") throw new Error(`The receiver responded ${statuses}`)
      await useKeys(`${base}/admin/keys`)
      await endsThoughIdle(base, child)
    })
  },
  "nest-postgres": async () => {
    const place = nestProject("nest-postgres", {
      ...{ ...byName(["store-pg", "cli"]), pg: "8", "@types/pg": "8", "@nestjs/testing": "11", expect: "30" },
      ...{ "drizzle-orm": "0.45", "drizzle-kit": "0.31" }
    })
    for (const [path = "", body = ""] of filesOf("embed-drizzle.md"))
      if (["src/schema.ts", "src/inTransaction.ts"].includes(path)) writeFileSync(join(place, path), body)
    for (const [path = "", body = ""] of filesOf("import.md"))
      if (path === "src/import.controller.ts") writeFileSync(join(place, path), body)
    for (const [path = "", body = ""] of filesOf("embed.md"))
      if (path === "src/startOnceUp.ts") writeFileSync(join(place, path), body)
    writeFileSync(
      join(place, "src/app.module.ts"),
      readFileSync(join(place, "src/app.module.ts"), "utf8")
        .replaceAll("WorkshopModule", "OrdersModule")
        .replace("workshop.module", "orders.module")
        .replaceAll("HookModule", "OwnHookModule")
        .replace("hook.module", "own-hook.module")
    )
    const text = (/** @type {string} */ path) => readFileSync(join(place, path), "utf8")
    // The webhook policy is the one that the guide shows for development.
    const [develop = ""] = /^webhookPolicy: .*$/m.exec(readFileSync("docs/embed-frameworks.md", "utf8")) ?? []
    const providers = text("src/postgres/workshop.providers.ts").replace("    notifyClient:", `    ${develop},\n$&`)
    writeFileSync(join(place, "src/workshop.providers.ts"), providers)
    const [, constructed = "", ended = ""] =
      /^```text\n( {2}constructor\([\s\S]*?\n {2}\}\n)\n([\s\S]*?)^```/m.exec(
        readFileSync("docs/embed-frameworks.md", "utf8")
      ) ?? []
    const module = text("src/workshop.module.ts")
      .replace(/ {2}constructor\(@Inject\("WORKSHOP"\)[\s\S]*?\n {2}\}\n/, constructed)
      .replace(/ {2}onApplicationShutdown\(\) \{[\s\S]*?\n {2}\}\n/, ended)
    writeFileSync(join(place, "src/workshop.module.ts"), `import type { Pool } from "pg"\n${module}`)
    for (const spec of ["src/workshop.module.spec.ts", "src/applyEvent.spec.ts"]) writeNestSpec(place, spec)
    run("npm", ["install"], place)
    run("node_modules/.bin/tsc", [], place)
    await withPostgres(place, async (url) => {
      const env = { DATABASE_URL: url, TEST_DATABASE_URL: url }
      run("node", ["--test", "dist/workshop.module.spec.js"], place, env)
      writeDrizzleConfig(place)
      const config = readFileSync(join(place, "drizzle.config.ts"), "utf8")
      const files = '["./src/schema.ts", "./src/applyEvent.ts"]'
      writeFileSync(join(place, "drizzle.config.ts"), config.replace('"./src/schema.ts"', files))
      run("npx", ["drizzle-kit", "push", "--force"], place, env)
      run("node", ["--test", "dist/applyEvent.spec.js"], place, env)
      await serve("node", ["dist/main.js"], place, 4954, env, async (base) => {
        await createTicket(base)
        const headers = { cookie: "session=amira", "content-type": "application/json", "idempotency-key": "order-1" }
        const order = async (/** @type {object} */ body) => {
          const response = await fetch(`${base}/orders`, { method: "POST", headers, body: JSON.stringify(body) })
          return { status: response.status, body: await response.json() }
        }
        const first = await order({ service: "Hem", phone: "06 12 34 56 78" })
        const again = await order({ service: "Hem", phone: "06 12 34 56 78" })
        const refused = await order({ service: "Zip" })
        query(place, url, `insert into ticket_orders (ticket_id) values ('${first.body.ticket_id}')`)
        const moved = await fetch(`${base}/tickets/${first.body.ticket_id}/ready`, { method: "POST", headers })
        const { success, data } = await moved.json()
        const at = `${base}/tickets/${first.body.ticket_id}/history`
        const history = await (await fetch(at, { headers })).json()
        const results = [first.status, first.body.id === again.body.id, refused.body.error?.code, history[0]?.caller_id]
        results.push(moved.status, success, data.state)
        if (results.join() !== "201,true,CONFLICT,amira,200,true,ready")
          throw new Error(`The server responded ${results}`)
        // The app's own receiver must apply the event.
        const received = () => query(place, url, "select state, times_ready from ticket_orders")[0]
        for (let tries = 0; received().times_ready === 0; tries++)
          if (tries === 30) throw new Error("The receiver got no event")
        if (received().state !== "ready") throw new Error(`The receiver wrote ${received().state}`)
      })
    })
  },
  drizzle: async () => {
    const place = project("drizzle", "embed-drizzle.md", {
      ...{ ...EXPRESS, ...byName(["store-pg"]), "drizzle-orm": "0.45", "drizzle-kit": "0.31" },
      ...{ pg: "8", "@types/pg": "8", vitest: "3" }
    })
    writeDrizzleConfig(place)
    run("npm", ["install"], place)
    run("node_modules/.bin/tsc", [], place)
    await withPostgres(place, async (url) => {
      const env = { DATABASE_URL: url, TEST_DATABASE_URL: url }
      const push = () => run("npx", ["drizzle-kit", "push", "--force"], place, env)
      push()
      const ask = async (/** @type {string} */ base) => {
        const headers = { cookie: "session=amira", "content-type": "application/json", "idempotency-key": "1" }
        const post = (/** @type {string} */ path, /** @type {object} */ body) =>
          fetch(`${base}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
        const order = await (await post("/orders", { service: "Hem", phone: "06 12 34 56 78" })).json()
        const again = await (await post("/orders", { service: "Hem", phone: "06 12 34 56 78" })).json()
        const moved = await (await post(`/workshop/v1/tickets/${order.ticket_id}/status`, { status: "ready" })).json()
        const history = await (await fetch(`${base}/tickets/${order.ticket_id}/history`, { headers })).json()
        const listed = await (await fetch(`${base}/workshop/v1/tickets`, { headers })).json()
        // Pushing Drizzle's tables again must not remove the service's tables.
        push()
        const kept = await (await fetch(`${base}/workshop/v1/tickets`, { headers })).json()
        const movers = history.map((/** @type {{ caller_id: string }} */ { caller_id }) => caller_id).join("+")
        const results = [again.id === order.id, moved.data?.state, movers, listed.data.length, kept.data.length]
        if (results.join() !== "true,ready,amira+amira,1,1") throw new Error(`The server responded ${results}`)
        // The server must survive the loss of its idle connections.
        endConnections(place, url)
        const later = await (await post("/orders", { service: "Hem", phone: "06 12 34 56 78" })).json()
        if (later.id !== order.id) throw new Error(`After a restart the server responded ${JSON.stringify(later)}`)
      }
      await serve("node", ["dist/server.js"], place, 4955, env, ask)
      run("npx", ["vitest", "run", "--dir", "src"], place, env)
    })
  },
  "effect-drizzle": async () => {
    const platform = { "@effect/platform-node": "0.108", "@effect/sql": "0.52", "@effect/sql-pg": "0.53" }
    const place = project("effect-drizzle", "embed-effect.md", {
      ...{ "@types/node": "20", typescript: "5.9", ...platform, ...byName(["store-pg", "cli"]) },
      ...{
        "drizzle-orm": "0.45",
        "drizzle-kit": "0.31",
        pg: "8",
        "@types/pg": "8",
        "@effect/vitest": "0.30",
        vitest: "3"
      }
    })
    // These are the changes of the section about Drizzle, whose src/Orders.ts replaces the file of the previous
    // section.
    const change = (
      /** @type {string} */ path,
      /** @type {ReadonlyArray<readonly [string | RegExp, string]>} */ changes
    ) => {
      const before = readFileSync(join(place, path), "utf8")
      const after = changes.reduce((text, [from, to]) => text.replace(from, to), before)
      if (after === before) throw new Error(`${path} is not changed`)
      writeFileSync(join(place, path), after)
    }
    change("src/Shop.ts", [
      [/ {4}const sql = [\s\S]*?`\n/, ""],
      ['import { SqlClient } from "@effect/sql"\n', ""]
    ])
    change("src/Server.ts", [
      [/PgClient\.layerConfig\(.*\)\)$/m, "Database.Default)"],
      ['import { PgClient } from "@effect/sql-pg"', 'import { Database } from "./Database.js"']
    ])
    const [, postgres = ""] =
      /^```ts\n(import \{ MigratedStore \} from "@workshop\/store-pg"\n(?:(?!^```)[\s\S])*?layerConfig[\s\S]*?)^```/m.exec(
        readFileSync("docs/embed-effect.md", "utf8")
      ) ?? []
    writeFileSync(join(place, "src/Store.ts"), postgres)
    change("src/Workshop.ts", [
      ["import { Dispatcher,", "import { Probes, sandboxAddresses, WebhookPolicy, Dispatcher,"],
      [
        /(Entropy\.layer\))\n\)/,
        "$1,\n  Layer.provideMerge(Probes.layer),\n  Layer.provideMerge(Layer.succeed(WebhookPolicy, sandboxAddresses))\n)"
      ]
    ])
    writeDrizzleConfig(place)
    run("npm", ["install"], place)
    run("node_modules/.bin/tsc", [], place)
    await withPostgres(place, async (url) => {
      const env = { DATABASE_URL: url, HOOK_URL: "http://127.0.0.1:4957/hook" }
      run("npx", ["drizzle-kit", "push", "--force"], place, env)
      await serve("node", ["dist/serve.js"], place, 4957, env, async (base) => {
        const headers = { cookie: "session=amira", "content-type": "application/json", "idempotency-key": "1" }
        const ask = async (/** @type {string} */ path, /** @type {object | undefined} */ body) => {
          const method = body === undefined ? "GET" : "POST"
          const response = await fetch(`${base}${path}`, { method, headers, body: JSON.stringify(body) })
          return { status: response.status, body: await response.json() }
        }
        const order = (/** @type {string} */ customer) =>
          ask("/orders", { id: "A1", customer, ticket: { service: "Hem" } })
        const [first, again, other] = [await order("Ada"), await order("Ada"), await order("Grace")]
        endConnections(place, url)
        const later = await order("Ada")
        const listed = await ask("/workshop/v1/tickets", undefined)
        await ask(`/workshop/v1/tickets/${listed.body.data[0].id}/status`, { status: "ready" })
        const results = [first.status, again.body.number, other.body.error?.details.reason, later.body.number]
        if (results.join() !== "201,0001,ORDER_EXISTS,0001") throw new Error(`The server responded ${results}`)
        const received = () => query(place, url, "select state, times_ready from orders")[0]
        for (let tries = 0; received().times_ready === 0; tries++)
          if (tries === 30) throw new Error("The receiver got no event")
        const read = await ask("/orders/A1", undefined)
        if (read.body.state !== "ready") throw new Error(`The order is ${JSON.stringify(read)}`)
      })
    })
  },
  knex: async () => {
    const dependencies = { ...byName(["store-pg"]), knex: "3", pg: "8" }
    const place = project("knex", "your-database.md", dependencies)
    run("npm", ["install"], place)
    // The recipe of docs/your-database.md: a row and its ticket in one transaction of Knex, committed and rolled back.
    writeFileSync(
      join(place, "order.mjs"),
      `import { start } from "@workshop/core/promise"
import { MigratedStore } from "@workshop/store-pg"
import knex from "knex"
const url = process.env.DATABASE_URL
const db = knex({ client: "pg", connection: url })
const workshop = await start({ store: MigratedStore.layer({ url }) })
const shop = await workshop.orThrow.shops.firstOrCreate({ name: "Lac", currency: "EUR", time_zone: "Europe/Paris" })
const caller = { shop_id: shop.id, caller_id: "amira", scopes: ["tickets:write"], via: "app" }
await db.schema.createTable("orders", (table) => table.integer("ticket_number"))
const order = async (fails) => {
  const { afterCommit } = await db.transaction(async (trx) => {
    const client = await trx.client.acquireConnection()
    return workshop.within(client, async ({ orThrow: { tickets } }) => {
      const { data } = await tickets.createInApp(caller, { service: "Hem" })
      await trx("orders").insert({ ticket_number: data.number })
      if (fails) throw new Error("No such customer")
    })
  })
  await afterCommit()
}
await order(false)
await order(true).catch(() => {})
const rows = await db("orders")
const { data } = await workshop.orThrow.tickets.list(caller, {})
console.log(rows.length, data.length)
await workshop.stop()
await db.destroy()
`
    )
    await withPostgres(place, async (url) => {
      // Only the last line counts, because the log before it says that the schema is new.
      const printed = run("node", ["order.mjs"], place, { DATABASE_URL: url }).trim().split("\n").at(-1)
      if (printed !== "1 1") throw new Error(`The program printed ${printed}`)
    })
  },
  worker: () => {
    const place = project("worker", "embed-frameworks.md", { hono: "4", esbuild: "0.25", miniflare: "4" })
    run("npm", ["install"], place)
    // These are the options with which wrangler bundles a worker.
    const bundled = ["--bundle", "--format=esm", "--conditions=workerd,worker,browser", "--outfile=worker.mjs"]
    run("npx", ["esbuild", "src/hono.ts", ...bundled], place)
    writeFileSync(
      join(place, "ask.mjs"),
      `import { Miniflare } from "miniflare"
const worker = new Miniflare({ modules: true, scriptPath: "worker.mjs", compatibilityDate: "2025-09-01" })
const headers = { cookie: "session=amira", "content-type": "application/json", "idempotency-key": "1" }
const ask = (init) => worker.dispatchFetch("http://shop.test/workshop/v1/tickets", init)
const made = await ask({ method: "POST", headers, body: '{"service":"Hem"}' })
const { scheduled } = await worker.getWorker()
const { outcome } = await scheduled({ cron: "* * * * *" })
const listed = await (await ask({ headers })).json()
const strangers = await ask()
console.log(made.status, outcome, listed.data.length, strangers.status)
await worker.dispose()
`
    )
    const printed = run("node", ["ask.mjs"], place).trim()
    if (printed !== "201 ok 1 401") throw new Error(`The worker responded ${printed}`)
  }
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in parts))
if (unknown.length > 0)
  throw new Error(`There is no part ${unknown.join(", ")}: choose one of ${Object.keys(parts).join(", ")}`)
run(
  "npm",
  ["pack", "--pack-destination", folder, ...publishedPackages.flatMap((name) => ["-w", `packages/${name}`])],
  resolve(".")
)
try {
  for (const name of chosen.length > 0 ? chosen : Object.keys(parts)) {
    await parts[name]?.()
    console.log(`${name}: works`)
  }
} finally {
  rmSync(folder, { recursive: true })
}
