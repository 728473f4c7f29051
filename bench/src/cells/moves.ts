import { listCells, moveCell } from "@workshop/store-pg/migrate"
import { Effect } from "effect"
import { openShop } from "../../../packages/core/dist/testing/Fixtures.js"
import { openMigrationSession } from "../../../packages/store-pg/dist/migrate/Session.js"
import { BenchClock } from "../create/Workload.js"
import { FILL } from "../sizes/Fill.js"
import { cellSchemas, onStore, RETRY_SCHEDULE } from "./Placement.js"

/** The result of moving a cell from one worker to another. */
export interface CellMove {
  readonly bytes: number
  readonly took_ms: number
  readonly longest_pause_ms: number
}

const SCHEMA = "bench_moved"
const CELLS = [{ name: "small" }, { name: "large" }]

const SIZE =
  "select coalesce(sum(shard_size), 0)::double precision as bytes from citus_shards where table_name::text like $1"

/** Moves a cell with one shop and no tickets, and a cell with `tickets` tickets, each to another worker. */
export const moves = (url: string, tickets: number): Effect.Effect<ReadonlyArray<CellMove>, unknown> =>
  Effect.gen(function* () {
    const session = yield* cellSchemas(url, SCHEMA, CELLS)
    yield* Effect.scoped(
      Effect.gen(function* () {
        const on = yield* onStore(url, SCHEMA, CELLS, new BenchClock())
        yield* Effect.replicateEffect(Effect.retry(on(openShop()), RETRY_SCHEDULE), 2)
      })
    )
    yield* Effect.scoped(
      Effect.gen(function* () {
        const filling = yield* openMigrationSession(url, { schema: `${SCHEMA}_large`, statement_timeout_ms: 600_000 })
        for (const statement of FILL) yield* filling.run(statement, statement.includes("$1") ? [tickets] : undefined)
      })
    )
    const cells = yield* listCells(url, { schema: SCHEMA, cells: CELLS })
    const nodes = [...new Set(cells.slice(1).map(({ node }) => node))]
    return yield* Effect.forEach(CELLS, ({ name }) =>
      Effect.gen(function* () {
        const [{ bytes } = { bytes: 0 }] = yield* session.run<{ bytes: number }>(SIZE, [`${SCHEMA}_${name}.%`])
        const from = cells.find((cell) => cell.name === name)!.node
        const { took_ms, longest_pause_ms } = yield* moveCell(url, {
          name,
          node: nodes.find((one) => one !== from)!,
          schema: SCHEMA
        })
        return { bytes, took_ms, longest_pause_ms } satisfies CellMove
      })
    )
  }).pipe(Effect.scoped)
