import { Entropy } from "@workshop/core"
import { SettableClock } from "@workshop/core/testing"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { openMigrationSession, type Session } from "../../../store-pg/src/migrate/Session.js"
import { layer } from "../../../store-pg/src/PgStore.js"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import { runCommandLine } from "../runCommandLine.js"

const KEY = Buffer.alloc(32, 1).toString("base64")

/** Runs a test with a migrated database, and with functions that type commands and run SQL on it. */
const withDatabase = (
  act: (
    type: (line: string, extra?: Readonly<Record<string, string>>) => ReturnType<typeof runCommandLine>,
    run: (sql: string) => Promise<ReadonlyArray<unknown>>,
    url: string
  ) => Promise<void>
) =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    const { run }: Session = yield* openMigrationSession(url)
    yield* Effect.promise(() =>
      act(
        (line, extra = {}) => runCommandLine(line.split(" "), { DATABASE_URL: url, ...extra }),
        (sql) => Effect.runPromise(run(sql)),
        url
      )
    )
  }).pipe(Effect.scoped, Effect.runPromise)

const openShops = (url: string, cells: ReadonlyArray<{ readonly name: string }>, count: number) =>
  Effect.replicateEffect(openShop(), count).pipe(
    Effect.provide(Layer.provideMerge(layer({ url, cells }), Entropy.layer)),
    Effect.withClock(new SettableClock()),
    Effect.runPromise
  )

describe("workshop cell (docs/scaling.md)", { timeout: 120_000 }, () => {
  it("workshop cell list shows only the home cell at first, then each added cell with its shops and state", () =>
    withDatabase(async (type, run, url) => {
      const alone = JSON.parse((await type("cell list --json")).stdout)
      expect(alone).toEqual([
        { name: "home", schema: "workshop", node: expect.any(String), shops: 0, takes_shops: true, state: "ready" }
      ])
      expect(await type("cell add north")).toMatchObject({
        status: 0,
        stdout:
          "The cell north is added, in the schema workshop_north. If the name is wrong, run workshop cell remove north now, while it has no shops. If the processes connect as workshop_service or workshop_reader, run workshop migrate --roles with the same --cells, because these roles may not read the new cell yet. Then restart every process with the new cell in --cells. Until it is restarted, a process refuses requests of the shops in that cell.\n"
      })
      await openShops(url, [{ name: "north" }], 3)
      const { stdout } = await type("cell list")
      expect(stdout).toMatch(/^CELL +SCHEMA +NODE +SHOPS +NEW SHOPS +STATE\nhome +workshop +\S+ +2 +yes +ready\nnorth/)
      expect(stdout).toMatch(/north +workshop_north +\S+ +1 +yes +ready\n$/)
      await run("delete from workshop_north.schema_migration where version > 20")
      expect(JSON.parse((await type("cell list --json")).stdout)[1]).toMatchObject({
        name: "north",
        state: expect.stringMatching(
          /^The schema workshop_north of the database has version 20, but this program needs/
        )
      })
      await run("drop schema workshop_north cascade")
      expect(JSON.parse((await type("cell list --json")).stdout)[1].state).toBe(
        "The cell is not in this database, and its address is not stored. Give its address in --cells."
      )
      expect(JSON.parse((await type("cell list --json --cells north")).stdout)[1]).toMatchObject({
        takes_shops: false,
        state: expect.stringMatching(/has version 0/)
      })
    }))

  it("workshop cell remove removes a misspelt cell, and says where its tables remain", () =>
    withDatabase(async (type, run) => {
      const last = (await run(
        "select name from workshop.schema_migration order by version desc limit 1"
      )) as ReadonlyArray<{
        readonly name: string
      }>
      expect((await type("migrate --cells nine")).stdout).toMatch(
        new RegExp(`^Applied in the cell nine: 0001_\\w+ to ${last[0]!.name}\\. The database .+ is up to date\\.\n$`)
      )
      expect(await type("migrate --cells 2")).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(/^The directory in the home cell has the cell nine, which was not given\. /)
      })
      expect(await type("cell remove nine")).toMatchObject({
        status: 0,
        stdout:
          'The cell nine is removed. Remove it from --cells, and restart every process. The cell\'s tables are kept. If they are in this database, you can delete them with "drop schema workshop_nine cascade".\n'
      })
      expect(await run("select name from workshop.cell")).toEqual([])
      expect((await type("migrate --cells 2")).status).toBe(0)
      expect((await type("cell remove home")).stderr).toMatch(/^The home cell cannot be removed/)
    }))

  it("workshop cell add asks for confirmation of a name that looks misspelt, and creates nothing without a yes", () =>
    withDatabase(async (type, run) => {
      const made = "select nspname from pg_namespace where nspname ~ '^workshop_' order by 1"
      const anyhow = ". There is no terminal in which to confirm this, so add --yes to confirm it.\n"
      await type("cell add north")
      for (const name of ["nort", "norht", "nroth", "north_"])
        expect([await type(`cell add ${name}`), await run(made)]).toEqual([
          {
            status: 1,
            stdout: "",
            stderr: `There is already a cell north. ${name} may be a typing error, and a cell cannot be renamed${anyhow}`
          },
          [{ nspname: "workshop_north" }]
        ])
      expect((await type("cell add south")).status).toBe(0)
      expect((await type("cell add norths --yes")).status).toBe(0)
      for (const name of ["norths", "south", "north"]) expect((await type(`cell remove ${name}`)).status).toBe(0)
      await type("migrate --cells 3")
      expect((await type("cell add cell4")).stderr).toBe(
        `The cells are numbered, and the next name would be cell_3. cell4 may be a typing error, and a cell cannot be renamed${anyhow}`
      )
      expect((await type("cell add cell_13")).status).toBe(1)
      expect((await type("cell add cell_3")).status).toBe(0)
      expect(await run("select name from workshop.cell order by name")).toEqual(
        ["cell_1", "cell_2", "cell_3", "home"].map((name) => ({ name }))
      )
    }))

  it("workshop cell add creates a cell in another cluster, and workshop cell list shows it with --cells", () =>
    withDatabase((type) =>
      Effect.gen(function* () {
        const other = yield* testDatabase
        yield* Effect.promise(async () => {
          expect((await type(`cell add east --address ${other.url}`)).status).toBe(0)
          const found = JSON.parse((await type("cell list --json", { WORKSHOP_CELLS: `east=${other.url}` })).stdout)
          expect(found[1]).toMatchObject({ name: "east", schema: "workshop", state: "ready" })
        })
      }).pipe(Effect.scoped, Effect.runPromise)
    ))

  it("workshop cell refuses two cells with one name, an invalid name, an unknown cell, and a move without Citus", () =>
    withDatabase(async (type, run) => {
      await type("cell add north")
      const refusal = async (line: string) => {
        const { status, stderr } = await type(line)
        expect([line, status]).toEqual([line, 1])
        return stderr
      }
      expect(await refusal("cell add north")).toBe("There is already a cell north. Choose another name.\n")
      expect(await refusal("cell add North")).toMatch(/^"North" is not a valid name for a cell/)
      expect(await refusal("cell list --cells south")).toBe(
        "The directory in the home cell has no cell south. Add the cell with workshop cell add. To list the cells of the directory, omit --cells.\n"
      )
      for (const line of ["cell move north db2:5432", "cell balance"])
        expect(await refusal(line)).toBe(
          "The database has no Citus, which is needed to move a cell. Move the cell's cluster by promoting a standby, and give its new address in --cells.\n"
        )
      expect(await run("select name from workshop.cell order by name")).toEqual([{ name: "home" }, { name: "north" }])
    }))
})

describe("commands that process all cells (docs/scaling.md)", { timeout: 120_000 }, () => {
  it("workshop check names the cell of each finding, and reports a shop that is in two cells", () =>
    withDatabase(async (type, run, url) => {
      await type("migrate --cells 3")
      const shops = await openShops(url, [{ name: "cell_1" }, { name: "cell_2" }], 3)
      const one = Number(/^(\d+) checks found nothing wrong/.exec((await type("check --cells 3")).stdout)![1])
      expect(one).toBeGreaterThan(3)
      await run(`insert into workshop_cell_2.delivery_queue select '${shops[0]!.id}', 0, 1`)
      await run("insert into workshop_cell_2.shop select * from workshop_cell_1.shop")
      const { status, stdout } = await type("check --cells 3 --json")
      expect(status).toBe(1)
      const named = (name: string) =>
        JSON.parse(stdout).findings.filter((one: { readonly name: string }) => one.name === name)
      expect(named("queue-webhook")).toMatchObject([{ cell: "cell_2", count: 1 }])
      expect(named("shop-cell")).toMatchObject([
        {
          finds: "Shops are in a cell in which the directory did not place them",
          count: 1,
          first: [{ cell: "cell_2", directory: "cell_1" }]
        }
      ])
      expect((await type("check --cells 3")).stdout).toMatch(/^cell_2: queue-webhook: /m)
    }))

  it("workshop secrets reseal re-encrypts the secrets of every cell", () =>
    withDatabase(async (type, run) => {
      await type("migrate --cells 2")
      for (const schema of ["workshop", "workshop_cell_1"])
        await run(
          `insert into ${schema}.webhook select gen_random_uuid(), 'https://example.com/', 'whsec_x', null, null, null, 0, null, 0, 1, 0`
        )
      const { stdout } = await type("secrets reseal --cells 2", { WORKSHOP_SECRETS_KEY: KEY })
      expect(stdout).toBe("2 webhooks changed. All webhook secrets are now encrypted with the key 72cd6e84.\n")
      expect(await run("select left(secret, 15) as secret from workshop_cell_1.webhook")).toEqual([
        { secret: "sealed:72cd6e84" }
      ])
    }))

  it("workshop check and workshop secrets reseal refuse omitted or unknown cells, and write nothing", () =>
    withDatabase(async (type, run) => {
      await type("migrate --cells 2")
      const remedy = ". Give every command the same --cells as workshop migrate.\n"
      for (const line of ["check", "secrets reseal"]) {
        const alone = await type(line, { WORKSHOP_SECRETS_KEY: KEY })
        expect(alone.stderr).toBe(
          `The database is the home cell of several cells (cell_1, home), but the other cells were not given${remedy}`
        )
        const more = await type(`${line} --cells 3`, { WORKSHOP_SECRETS_KEY: KEY })
        expect(more.stderr).toBe(
          "The directory in the home cell has no cell cell_2. Correct the cell's name, or add the cell with workshop cell add or workshop migrate --cells.\n"
        )
      }
      expect(await run("select act from workshop.audit_entry where act = 'database.secrets_resealed'")).toEqual([])
    }))
})
