import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { dispatchOptions } from "../../src/dispatch/DispatchCommand.js"
import { serveOptions } from "../../src/serve/ServeOptions.js"
import type { Flag } from "../../src/terminal/program.js"

const root = fileURLToPath(new URL("../../../../", import.meta.url))
const read = (path: string) => readFileSync(root + path, "utf8")

interface Stage {
  readonly base: string
  readonly name: string | undefined
  readonly lines: Array<{ readonly word: string; readonly rest: string }>
}

/** The default base image of all stages. A build may name another one, such as the same image with its digest. */
const nodeImage = /^ARG NODE_IMAGE=(\S+)$/m.exec(read("Dockerfile"))?.[1] ?? ""

/** An image with an exact version as its tag. */
const EXACT = /^\w+:\d+\.\d+(\.\d+)?-[\w-]+$/

/** The instructions of the Dockerfile, by stage; a line that ends with a backslash continues on the next one. */
const stages = read("Dockerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => line.replace(/^FROM \$\{NODE_IMAGE\}/, `FROM ${nodeImage}`))
  .reduce<Array<Stage>>((found, line) => {
    const [, word = "", rest = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    if (word === "FROM") {
      const [, base = "", name] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? []
      found.push({ base, name, lines: [] })
    } else found.at(-1)?.lines.push({ word, rest })
    return found
  }, [])
const last = stages.at(-1)!
const copied = stages.flatMap(({ lines }) =>
  lines.flatMap(({ word, rest }) =>
    word === "COPY" && !rest.startsWith("--from") ? [rest.split(" ").slice(0, -1)] : []
  )
)
const of = (word: string) => last.lines.filter((line) => line.word === word).map(({ rest }) => rest)

/** The environment variables that a command reads. */
const variables = (options: Readonly<Record<string, Flag<unknown>>>) =>
  Object.values(options).map(({ variable }) => variable)

describe("the Dockerfile", () => {
  it("the Dockerfile uses only known instructions, and copies only files that exist and that .dockerignore does not exclude", () => {
    const known = ["WORKDIR", "COPY", "RUN", "ENV", "USER", "EXPOSE", "HEALTHCHECK", "STOPSIGNAL", "ENTRYPOINT", "CMD"]
    expect(stages.flatMap(({ lines }) => lines).filter(({ word }) => !known.includes(word))).toEqual([])
    const let_through = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
    for (const path of copied.flat()) {
      expect(existsSync(root + path), path).toBe(true)
      expect(
        let_through.some((line) => path === line.slice(1) || path.startsWith(`${line.slice(1)}/`)),
        path
      ).toBe(true)
    }
    expect(copied.length).toBeGreaterThan(5)
  })

  it("the Dockerfile copies the package.json of every workspace before it installs, because npm ci would otherwise refuse the lock file", () => {
    const { workspaces } = JSON.parse(read("package.json"))
    for (const workspace of workspaces) expect(copied.flat()).toContain(`${workspace}/package.json`)
  })

  it("the Dockerfile copies only from stages that exist", () => {
    const names = stages.map(({ name }) => name)
    for (const { lines } of stages)
      for (const { rest } of lines) {
        const from = /^--from=(\S+)/.exec(rest)?.[1]
        if (from !== undefined) expect(names).toContain(from)
      }
  })

  it("the image has a user other than root, no development packages, and a health check", () => {
    expect(stages.map(({ base }) => base)).toEqual([nodeImage, nodeImage, nodeImage])
    expect(nodeImage).toMatch(EXACT)
    expect(of("USER")).toEqual(["node"])
    expect(of("HEALTHCHECK")[0]).toContain("http://127.0.0.1:4010/healthz")
    expect(stages.flatMap(({ lines }) => lines).some(({ rest }) => rest.startsWith("npm ci --omit=dev"))).toBe(true)
    expect(existsSync(`${root}${JSON.parse(of("ENTRYPOINT")[0]!)[1]}`)).toBe(true)
    const set = of("ENV").flatMap((line) => line.split(" ").map((one) => one.split("=")[0]!))
    expect(set.filter((name) => name !== "NODE_ENV" && !variables(serveOptions).includes(name))).toEqual([])
  })
})

interface Service {
  readonly command?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly stop_grace_period?: string
  readonly image?: string
  readonly user?: string
  readonly read_only?: boolean
  readonly cap_drop?: ReadonlyArray<string>
  readonly cap_add?: ReadonlyArray<string>
  readonly security_opt?: ReadonlyArray<string>
  readonly privileged?: boolean
}

describe("the services of compose.yaml", () => {
  const { services } = parse(read("compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>
  }

  it("compose.yaml runs Postgres, a migration, two nodes and a dispatcher", () => {
    expect(Object.entries(services).map(([name, { command = [] }]) => [name, ...command])).toEqual([
      ["database"],
      ["migrate", "migrate", "--roles"],
      ["node-1"],
      ["node-2"],
      ["dispatcher", "dispatch"]
    ])
  })

  it("compose.yaml confines every container: its files are read-only, and it has no capabilities and cannot gain privileges", () => {
    for (const [name, service] of Object.entries(services)) {
      expect([name, service.read_only, service.cap_drop, service.security_opt]).toEqual([
        name,
        true,
        ["ALL"],
        ["no-new-privileges:true"]
      ])
      expect([service.cap_add, service.privileged]).toEqual([undefined, undefined])
    }
    expect(services.database?.user).toBe("postgres")
    expect(services.database?.image?.replace(/^\$\{POSTGRES_IMAGE:-(.*)\}$/, "$1")).toMatch(EXACT)
  })

  it("compose.yaml passes the superuser's password only to the database", () => {
    for (const [name, { environment = {} }] of Object.entries(services))
      expect(JSON.stringify(environment).includes("POSTGRES_PASSWORD")).toBe(name === "database")
  })

  it("compose.yaml sets only variables that a command reads, leaves deliveries to the dispatcher, and starts each service after those that it needs", () => {
    const known = [...variables(serveOptions), ...variables(dispatchOptions)]
    for (const [name, { environment = {}, depends_on = {} }] of Object.entries(services)) {
      for (const other of Object.keys(depends_on)) expect(Object.keys(services)).toContain(other)
      if (name === "database") continue
      expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([])
      const role = name === "migrate" ? "workshop_owner:${OWNER_PASSWORD:?" : "workshop_service:${SERVICE_PASSWORD:?"
      expect(environment.DATABASE_URL).toContain(`postgres://${role}`)
    }
    expect(services["node-1"]?.environment?.WORKSHOP_NO_DISPATCHER).toBe("true")
    expect(services["node-2"]?.environment?.WORKSHOP_NO_DISPATCHER).toBe("true")
    expect(services.dispatcher?.stop_grace_period).toBe("15s")
  })
})
