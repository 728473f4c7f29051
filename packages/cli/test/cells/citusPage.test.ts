import { execFileSync } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { accountOf } from "../../../../proof/torture/Servers.js"
import { freePort } from "../../../../test/freePort.js"
import { runCommandLine } from "../runCommandLine.js"

const page = readFileSync(new URL("../../../../docs/scaling.md", import.meta.url), "utf8")

/** The first code block in a language below a heading. */
const blockBelow = (heading: string, language: string): string =>
  new RegExp(`^#### ${heading}\\n[\\s\\S]*?^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(page)?.[1] ?? ""

const steps = blockBelow("Set up three nodes by hand", "sh")
const compose = blockBelow("Set up three nodes with compose", "yaml")

/** The Citus functions that a text calls, in order, without host names, because those depend on the network. */
const acts = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/select (citus_set_coordinator_host|citus_add_node)\(/g)].map(([, name]) => name!)

interface Service {
  readonly image?: string
  readonly command?: unknown
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

describe("three nodes of Citus with compose (docs/scaling.md)", () => {
  const { services } = parse(compose, { merge: true }) as { readonly services: Readonly<Record<string, Service>> }
  const nodes = Object.entries(services).filter(([name]) => /^db\d$/.test(name))

  it("the Citus nodes in compose use the public image, with the settings of the manual steps", () => {
    const settings = /<<SETTINGS\n([\s\S]*?)^SETTINGS$/m.exec(steps)![1]!.trim().split("\n")
    const named = settings.map((line) => line.replaceAll("'", "").replace(" = ", "="))
    // The image sets these four itself: it preloads the extension, and listens in the network of its container.
    const own = named.filter(
      (line) => !/^(port|listen_addresses|unix_socket_directories|shared_preload_libraries)=/.test(line)
    )
    expect(nodes.map(([name]) => name)).toEqual(["db0", "db1", "db2"])
    for (const [, { image, command, environment }] of nodes) {
      expect(image).toBe("citusdata/citus")
      expect(environment).toMatchObject({ POSTGRES_DB: "workshop" })
      expect(String(command).replaceAll("-c ", "").split(" ")).toEqual(own)
    }
  })

  it("compose connects the Citus nodes with the statements of the manual steps, then migrates and serves", () => {
    const { connect, migrate, serve } = services
    expect(acts(steps)).toEqual(["citus_set_coordinator_host", "citus_add_node", "citus_add_node"])
    expect(acts(JSON.stringify(connect!.command))).toEqual(acts(steps))
    expect(JSON.stringify(connect!.command)).toMatch(/host\('db0', 5432\).*node\('db1', 5432\).*node\('db2', 5432\)/)
    expect(Object.keys(connect!.depends_on!)).toEqual(["db0", "db1", "db2"])
    expect(Object.keys(migrate!.depends_on!)).toEqual(["connect"])
    expect(Object.keys(serve!.depends_on!)).toEqual(["migrate"])
    expect([migrate, serve].map((one) => one!.environment!.WORKSHOP_CELLS)).toEqual(["9", "9"])
  })
})

const programs = "/usr/lib/postgresql/15/bin"
const canRun = existsSync("/usr/share/postgresql/15/extension/citus.control")
const why = canRun ? "" : ": not run, because Postgres 15 with Citus is not installed"

describe.skipIf(!canRun)(`Three nodes of Citus by hand (docs/scaling.md)${why}`, () => {
  it("the page's steps, run as written, set up three Citus nodes, each of which then has a cell", async () => {
    const folder = mkdtempSync(join(tmpdir(), "workshop-citus-"))
    const { uid, gid } = accountOf()
    if (uid !== undefined) chownSync(folder, uid, gid!)
    // Free ports replace those of the page, because other tests may use them.
    const first = await freePort(3)
    const text = steps
      .replaceAll("6500 + node", `${first} + node`)
      .replaceAll(/\b650([0-2])\b/g, (_, n) => String(first + Number(n)))
    const env = { ...process.env, HOME: folder }
    const run = (command: string) =>
      execFileSync("bash", ["-euo", "pipefail", "-c", command], {
        cwd: folder,
        env,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        ...accountOf()
      })
    try {
      expect(run(text)).toMatch(/\(2 rows\)\s*$/)
      const database = { DATABASE_URL: `postgres://postgres@127.0.0.1:${first}/workshop`, WORKSHOP_CELLS: "3" }
      expect(await runCommandLine(["migrate"], database)).toMatchObject({ status: 0 })
      const { stdout } = await runCommandLine(["cell", "list", "--json"], database)
      const cells = JSON.parse(stdout) as ReadonlyArray<{ readonly node: string; readonly state: string }>
      expect(cells.map(({ state }) => state)).toEqual(["ready", "ready", "ready"])
      expect(cells.map(({ node }) => Number(node.split(":")[1]) - first).sort()).toEqual([0, 1, 2])
    } finally {
      for (const node of [0, 1, 2])
        if (existsSync(join(folder, `db${node}/postmaster.pid`)))
          run(`${programs}/pg_ctl -D db${node} -m immediate -w stop`)
      rmSync(folder, { recursive: true, force: true })
    }
  }, 300_000)
})
