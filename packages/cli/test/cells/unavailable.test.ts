import { Entropy } from "@workshop/core"
import { Effect, Layer } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { untilAsync } from "../../../../test/until.js"
import { openShop } from "../../../core/src/testing/Fixtures.js"
import { openMigrationSession } from "../../../store-pg/src/migrate/Session.js"
import { layer } from "../../../store-pg/src/PgStore.js"
import { acceptConnections, refuseConnections, serverSession } from "../../../store-pg/test/cluster/DatabaseAccess.js"
import { testDatabase } from "../../../store-pg/test/cluster/TestDatabase.js"
import { RealClock } from "../../../store-pg/test/nodes/Node.js"
import { runCommandLine } from "../runCommandLine.js"
import { build, Workshop } from "../Workshop.js"

beforeAll(build, 120_000)

const statusOf = async (base: string, key: string): Promise<number> =>
  (await fetch(`${base}/v1/tickets`, { headers: { Authorization: `Bearer ${key}` } })).status

describe("a node starts even if a cell is unavailable (docs/scaling.md)", { timeout: 180_000 }, () => {
  it.each([
    ["with --no-migrate", ["--no-migrate"]],
    ["with its own migration", []]
  ])(
    "workshop serve %s reports the unavailable cell, serves the others, and serves the cell once it is back",
    (_, flags) =>
      Effect.gen(function* () {
        const [home, east] = [yield* testDatabase, yield* testDatabase]
        const server = yield* serverSession(home.url)
        const cells = `east=${east.url}`
        const extra = { DATABASE_URL: home.url, WORKSHOP_CELLS: cells, WORKSHOP_PORT: "0" }
        const type = (line: string) => Effect.promise(() => runCommandLine(line.split(" "), extra))
        expect((yield* type("migrate")).status).toBe(0)
        yield* Effect.provide(
          Effect.replicateEffect(openShop(), 2),
          Layer.provideMerge(
            Layer.orDie(layer({ url: home.url, cells: [{ name: "east", url: east.url }] })),
            Entropy.layer
          )
        ).pipe(Effect.withClock(new RealClock()))
        const session = yield* openMigrationSession(home.url)
        const keyOf = (cell: string) =>
          Effect.gen(function* () {
            const [row] = yield* session.run<{ shop_id: string }>(
              `select shop_id from workshop.shop_cell where cell = '${cell}'`
            )
            const { stdout } = yield* type(`key create ${row!.shop_id} --name Till --preset full --json`)
            return (JSON.parse(stdout) as { key: string }).key
          })
        const [inEast, atHome] = [yield* keyOf("east"), yield* keyOf("home")]
        yield* refuseConnections(server, east)
        yield* Effect.acquireUseRelease(
          Effect.sync(() => new Workshop(["serve", ...flags], extra)),
          (node) =>
            Effect.promise(async () => {
              const [, base = ""] = await node.says(/^Listening on (http:\/\/\S+)$/m)
              expect(node.stdout).toContain("The shops exist from an earlier start")
              expect(node.stdout).toContain("All data are kept in 2 cells: the home cell and those of --cells.")
              expect(node.stderr).toMatch(
                /The cell east does not respond\. Requests of the shops there are refused until it responds/
              )
              expect([await statusOf(base, atHome), await statusOf(base, inEast)]).toEqual([200, 503])
              expect(await (await fetch(`${base}/readyz`)).json()).toMatchObject({
                status: "ready",
                unavailable: ["east"]
              })
              expect(await (await fetch(`${base}/metrics`)).text()).toMatch(
                /^workshop_cell_unavailable\{cell="east"\} 1$/m
              )
              const created = await runCommandLine(
                "shop create --name Hem --currency EUR --time-zone Europe/Paris --json".split(" "),
                extra
              )
              expect([created.status, created.stderr]).toEqual([0, created.stderr])
              const listed = await runCommandLine(["shop", "list"], extra)
              expect(listed.status).toBe(1)
              expect(listed.stderr).toContain(
                "The cell east does not respond, but this call needs every cell. Try again when the cell responds."
              )
              await Effect.runPromise(acceptConnections(server, east))
              await untilAsync(
                "the shop of the cell",
                () => statusOf(base, inEast),
                (status) => status === 200
              )
              await untilAsync(
                "no cell unavailable",
                async () => (await (await fetch(`${base}/readyz`)).json()) as { unavailable?: unknown },
                ({ unavailable }) => unavailable === undefined
              )
            }),
          (node) =>
            Effect.promise(async () => {
              node.kill("SIGTERM")
              await node.exited
            })
        )
      }).pipe(Effect.scoped, Effect.runPromise)
  )
})
