import { mkdtempSync, readdirSync, realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { openMigrationSession, type Session } from "../../store-pg/src/migrate/Session.js"
import { testDatabase } from "../../store-pg/test/cluster/TestDatabase.js"
import { runCommandLine } from "./runCommandLine.js"
import { build, run } from "./Workshop.js"

beforeAll(build, 60_000)

const ran = async (...args: ReadonlyArray<string>) => {
  const { status, stdout, stderr } = await runCommandLine(["migrate", ...args])
  return { status, stdout: stdout.trim(), stderr: stderr.trim() }
}

/** Runs a test on an empty database. */
const onEmpty = (act: (url: string) => Promise<void>) =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    const name = `${new URL(url).pathname.slice(1)}_empty`
    const admin = yield* openMigrationSession(url)
    yield* Effect.acquireRelease(admin.run(`create database ${name}`), () =>
      Effect.orDie(admin.run(`drop database ${name} with (force)`))
    )
    const empty = new URL(url)
    empty.pathname = `/${name}`
    yield* Effect.promise(() => act(empty.href))
  }).pipe(Effect.scoped, Effect.runPromise)

/** Finds and drops roles. A test drops the roles that it creates, because all databases of a server share them. */
const rolesOfServer = async (names: ReadonlyArray<string>) => {
  const onServer = <A, E>(act: (session: Session) => Effect.Effect<A, E>) =>
    Effect.runPromise(
      Effect.scoped(Effect.flatMap(testDatabase, ({ url }) => Effect.flatMap(openMigrationSession(url), act)))
    )
  const found = await onServer(({ run }) => run("select from pg_roles where rolname = any ($1::text[])", [names]))
  return {
    existed: found.length > 0,
    drop: () => onServer(({ run }) => run(`drop role if exists ${names.join(", ")}`))
  }
}

describe("workshop migrate (Specification, Commands)", { timeout: 60_000 }, () => {
  it("workshop migrate brings a database up to date, and says so in words or in JSON", () =>
    onEmpty(async (url) => {
      const first = await ran("--database-url", url, "--json")
      expect(first.status).toBe(0)
      expect(JSON.parse(first.stdout).applied[0]).toBe("0001_first")
      expect(await ran("--database-url", url)).toEqual({
        status: 0,
        stdout: `The database ${new URL(url).host}${new URL(url).pathname} was up to date.`,
        stderr: ""
      })
    }))

  it("a migration is recorded in the audit log once, with the operator and both versions", () =>
    onEmpty(async (url) => {
      const entries = () =>
        Effect.runPromise(
          Effect.scoped(
            Effect.flatMap(openMigrationSession(url), ({ run }) =>
              run("select actor, act, details from workshop.audit_entry order by insert_order")
            )
          )
        )
      await ran("--database-url", url, "--actor", "operator:karim")
      await ran("--database-url", url, "--actor", "operator:karim")
      expect(await entries()).toEqual([
        {
          actor: "operator:karim",
          act: "database.migrated",
          details: { version_before: 0, version: expect.any(Number), moved_from: null }
        }
      ])
    }))

  it("two processes can migrate one database at the same time", () =>
    onEmpty(async (url) => {
      const process = () => run(["migrate", "--database-url", url, "--json"])
      const both = await Promise.all([process(), process()])
      expect(both.map(({ status }) => status)).toEqual([0, 0])
      const firsts = both.flatMap(({ stdout }) => JSON.parse(stdout).applied).filter((name) => name === "0001_first")
      expect(firsts).toEqual(["0001_first"])
    }))

  it("--roles lets the service's role read and write, and nothing else (docs/operating.md)", async () => {
    const ROLES = ["workshop_service", "workshop_reader"]
    const { existed, drop } = await rolesOfServer(ROLES)
    try {
      await onEmpty(async (url) => {
        const { status, stdout } = await ran("--database-url", url, "--roles")
        expect([status, stdout]).toEqual([
          0,
          expect.stringMatching(
            /^Applied .*\. The database \S+ is up to date\. The roles workshop_service and workshop_reader now have their rights\.$/
          )
        ])
        const again = await ran("--database-url", url, "--roles", "--json")
        expect([again.status, JSON.parse(again.stdout)]).toMatchObject([0, { applied: [] }])
        const acts = Effect.flatMap(openMigrationSession(url), ({ run }) =>
          run("select act from workshop.audit_entry where actor like 'cli:%' order by insert_order")
        )
        expect(await Effect.runPromise(Effect.scoped(acts))).toEqual([
          { act: "database.migrated" },
          { act: "database.roles_granted" },
          { act: "database.roles_granted" }
        ])
        const rights = Effect.flatMap(openMigrationSession(url), ({ run }) =>
          run(`select has_table_privilege('workshop_service', 'event', 'insert') as adds,
            has_table_privilege('workshop_service', 'event', 'update') as changes,
            has_column_privilege('workshop_reader', 'offer', 'phone', 'select') as sees`)
        )
        expect(await Effect.runPromise(Effect.scoped(rights))).toEqual([{ adds: true, changes: false, sees: false }])
      })
    } finally {
      if (!existed) await drop()
    }
  })

  it("workshop migrate names the database without its password", () =>
    onEmpty(async (url) => {
      const { host, pathname, password } = new URL(url)
      expect(password).not.toBe("")
      const { stdout, stderr } = await ran("--database-url", url)
      expect(stdout).toContain(`The database ${host}${pathname} is up to date.`)
      expect(stdout + stderr).not.toContain(password)
    }))

  it("--no-create-schema refuses a schema without tables, and creates nothing", () =>
    onEmpty(async (url) => {
      const { status, stderr } = await ran("--database-url", url, "--no-create-schema")
      expect(status).toBe(1)
      expect(stderr).toMatch(
        /^The schema workshop of the database \S+ does not have the workshop's tables, and no other schema has them\. Check --schema and --database-url, or omit --no-create-schema to start in that schema without data\.$/
      )
      expect((await ran("--database-url", url)).stdout).toMatch(/^Applied 0001_first, /)
      expect((await ran("--database-url", url, "--no-create-schema")).status).toBe(0)
    }))

  it("workshop migrate creates an embedded Postgres only if --data-dir names it, so that a forgotten DATABASE_URL is noticed", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "workshop-migrate-")))
    const forgotten = await run(["migrate"], { DATABASE_URL: "" }, folder)
    expect(forgotten).toEqual({
      status: 1,
      stdout: "",
      stderr: `No database was given, and there is no embedded Postgres in ${folder}/.workshop. Give --database-url, set DATABASE_URL, or create an embedded Postgres with --data-dir.\n`
    })
    expect(readdirSync(folder)).toEqual([])
  })

  it("workshop migrate reports an unreachable database, and what to check", async () => {
    const { status, stdout, stderr } = await ran("--database-url", "postgres://nobody@127.0.0.1:1/none")
    expect([status, stdout]).toEqual([1, ""])
    expect(stderr).toBe(
      "The database cannot be reached (connect ECONNREFUSED 127.0.0.1:1). Check that the database server is running, and that --database-url has its address."
    )
  })
})
