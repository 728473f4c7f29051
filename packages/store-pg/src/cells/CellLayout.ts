import { Clock, Effect, Fiber } from "effect"
import { DatabaseFailed, DENIED, withRoleRemedy } from "../connection/DatabaseFailed.js"
import { type Database, inSchema } from "../connection/Schema.js"
import type { MigrationBusy, SchemaCheckError } from "../migrate/MigrationError.js"
import { checkOn } from "../migrate/Migrator.js"
import { recordAct } from "../migrate/OperatorAudit.js"
import { openMigrationSession, type Session } from "../migrate/Session.js"
import { nameLabelOf, refuseOtherCell } from "./CellIdentity.js"
import {
  type CellAddress,
  type CellLocation,
  type CellOptions,
  cellFailure,
  HOME_CELL,
  locateCells
} from "./CellLocations.js"
import { migrateCells } from "./CellMigrations.js"
import { type CitusNode, isCitus, nodesOf } from "./CitusNodes.js"

/** A cell as the directory and its own database describe it. */
export interface CellStatus {
  /** The cell's name in the directory. */
  readonly name: string
  /** The schema with the cell's tables; empty if the cell's address is not known. */
  readonly schema: string
  /** The host and the port of its server, without user and password. */
  readonly node: string
  /** The number of shops in the cell; if the cell does not respond, the number in the directory. */
  readonly shops: number
  /** Whether the directory currently places new shops in the cell. */
  readonly takes_shops: boolean
  /** `ready`, or the reason why the cell cannot be used. */
  readonly state: string
}

/** A cell that was moved from one node to another. */
export interface CellMoveResult {
  /** The cell's name in the directory. */
  readonly name: string
  /** The worker that had the cell before, as `host:port`. */
  readonly from: string
  /** The worker that has the cell now, as `host:port`. */
  readonly to: string
  /** The duration of the whole move, in milliseconds; 0 if the cell was already there. */
  readonly took_ms: number
  /** The longest time for which a write to the cell had to wait, measured by a write every few milliseconds. */
  readonly longest_pause_ms: number
}

const OWNER_CHANGES =
  "The database role of --database-url may not change the cells. Use the role that owns their tables, such as workshop_owner, or a superuser"

const statementRefusal = (what: string) => new DatabaseFailed({ reason: "statement", code: undefined, what })

const hostAndPort = ({ host, port }: CitusNode): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

const serverOf = (url: string): string => /^[a-z]+:\/\/(?:[^@/?#]*@)?([^/?#]*)/i.exec(url)?.[1] || "localhost"

/** Reads the cells of the directory; only the home cell if there is no directory. */
const cellsOf = (session: Session, home: CellLocation) =>
  Effect.map(
    session.run<{ name: string; id: string | null; shops: string; takes_shops: boolean; all: string }>(
      inSchema(
        `select c.name, c.id, c.shops, c.takes_shops, (select count(*) from workshop.shop) as all from (
          select name, id, shops, takes_shops from workshop.cell union all
          select '${HOME_CELL}', null, 0, true where not exists (select from workshop.cell)
        ) c order by c.name <> '${HOME_CELL}', length(c.name), c.name`,
        home.schema
      )
    ),
    (rows) => rows.map((row) => ({ ...row, shops: Number(rows.length === 1 ? row.all : row.shops) }))
  )

/** A further cell in the database of the home cell. */
const cellOf = (home: CellLocation, name: string): CellLocation => ({
  name,
  url: home.url,
  schema: `${home.schema}_${name}`
})

/** The state of a cell, according to its own database. */
interface CellInspection {
  readonly state: string
  readonly shops?: number
}

const inspect = (location: CellLocation, recorded: { readonly id: string | null; readonly shops: number }) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* Effect.mapError(
        openMigrationSession(location.url, { schema: location.schema, statement_timeout_ms: 3_000 }),
        cellFailure(location)
      )
      yield* Effect.mapError(checkOn(session, location.schema), (error) =>
        error._tag === "DatabaseFailed" ? cellFailure(location)(error) : error
      )
      if (location.name !== HOME_CELL)
        yield* refuseOtherCell(location, { name: location.name, id: recorded.id, shops: String(recorded.shops) })
      const [row] = yield* session.run<{ n: string }>(
        inSchema("select count(*) as n from workshop.shop", location.schema)
      )
      return { state: "ready", shops: Number(row!.n) } satisfies CellInspection as CellInspection
    })
  ).pipe(Effect.catchAll(({ message }) => Effect.succeed<CellInspection>({ state: message })))

/** The state of a cell that is not a schema of the home cell's database. */
const ADDRESS_MISSING = "The cell is not in this database, and its address is not stored. Give its address in --cells."

/** Returns those of `schemas` that exist. */
const schemasOf = (session: Session, schemas: ReadonlyArray<string>) =>
  Effect.map(
    session.run<{ nspname: string }>("select nspname from pg_namespace where nspname = any ($1)", [schemas]),
    (rows) => new Set(rows.map(({ nspname }) => nspname))
  )

/** Lists the cells of the directory, with their locations and states. `cells` gives the addresses of other clusters. */
export const listCells = (
  url: string,
  options: CellOptions = {}
): Effect.Effect<ReadonlyArray<CellStatus>, SchemaCheckError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { schema, cells = [] } = options
      const [home, ...given] = yield* locateCells({ url, schema }, cells)
      const session = yield* openMigrationSession(url, { schema: home!.schema })
      yield* checkOn(session, home!.schema)
      const listedCells = yield* cellsOf(session, home!)
      const unknownCell = given.find(({ name }) => !listedCells.some((cell) => cell.name === name))
      if (unknownCell !== undefined)
        return yield* statementRefusal(
          `The directory in the home cell has no cell ${unknownCell.name}. Add the cell with workshop cell add. To list the cells of the directory, omit --cells`
        )
      const locatedCells = listedCells.map((cell) => {
        const location = [home!, ...given].find(({ name }) => name === cell.name)
        return { ...cell, isGiven: location !== undefined, location: location ?? cellOf(home!, cell.name) }
      })
      const nodes = yield* nodesOf(
        session,
        locatedCells.flatMap(({ location }) => (location.url === url ? [location.schema] : []))
      )
      const schemas = yield* schemasOf(
        session,
        locatedCells.map(({ location }) => location.schema)
      )
      return yield* Effect.forEach(
        locatedCells,
        ({ name, id, shops, takes_shops, location, isGiven }) =>
          Effect.gen(function* () {
            const { schema } = location
            if (!isGiven && !schemas.has(schema)) {
              const missing: CellStatus = { name, schema: "", node: "", shops, takes_shops, state: ADDRESS_MISSING }
              return missing
            }
            const inspection = yield* inspect(location, { id, shops })
            const node = location.url === url ? nodes.get(schema) : undefined
            const status: CellStatus = {
              name,
              schema,
              node: node === undefined ? serverOf(location.url) : hostAndPort(node),
              shops: inspection.shops ?? shops,
              takes_shops: takes_shops && inspection.state === "ready",
              state: inspection.state
            }
            return status
          }),
        { concurrency: 8 }
      )
    })
  )

/** The options of adding a cell. */
export interface AddCellOptions<E extends { readonly _tag: string } = never> extends Pick<Database, "schema"> {
  /** Called before anything is created, with the names of the other cells except the home cell. If it fails, nothing is created. */
  readonly confirm?: (names: ReadonlyArray<string>) => Effect.Effect<void, E>
}

/** Creates a further cell and adds it to the directory. Returns its name and its schema. */
export const addCell = <E extends { readonly _tag: string } = never>(
  url: string,
  cell: CellAddress,
  options: AddCellOptions<E> = {}
): Effect.Effect<Pick<CellLocation, "name" | "schema">, E | MigrationBusy | SchemaCheckError> =>
  Effect.gen(function* () {
    const { schema, confirm } = options
    const [home, added] = yield* locateCells({ url, schema }, [cell])
    const names = yield* Effect.scoped(
      Effect.gen(function* () {
        const session = yield* openMigrationSession(url, { schema: home!.schema })
        yield* checkOn(session, home!.schema)
        return yield* cellsOf(session, home!)
      })
    )
    if (names.some(({ name }) => name === cell.name))
      return yield* statementRefusal(`There is already a cell ${cell.name}. Choose another name`)
    if (confirm !== undefined) yield* confirm(names.flatMap(({ name }) => (name === HOME_CELL ? [] : [name])))
    yield* migrateCells(home!, [added!])
    return { name: added!.name, schema: added!.schema }
  }).pipe(Effect.mapError(withRoleRemedy(OWNER_CHANGES)))

/** Removes a cell without shops from the directory. Its tables stay, and its name can be used again. */
export const removeCell = (
  url: string,
  name: string,
  options: Pick<Database, "schema"> = {}
): Effect.Effect<Pick<CellLocation, "name" | "schema">, SchemaCheckError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const [home] = yield* locateCells({ url, schema: options.schema }, [])
      const session = yield* openMigrationSession(url, { schema: home!.schema })
      yield* checkOn(session, home!.schema)
      if (name === HOME_CELL)
        return yield* statementRefusal(
          "The home cell cannot be removed, because it contains the directory of the cells"
        )
      const removed = yield* Effect.gen(function* () {
        yield* session.run("begin")
        // Placing a shop also locks this row, so no shop can be placed in the cell until the removal is committed.
        const locked = yield* session.run("select from cell where name = $1 for update", [name])
        if (locked.length === 0)
          return yield* statementRefusal(`There is no cell ${name}. List the cells with workshop cell list`)
        const [row] = yield* session.run<{ n: string }>("select count(*) as n from shop_cell where cell = $1", [name])
        if (row!.n !== "0")
          return yield* statementRefusal(
            `The cell ${name} has ${row!.n} ${row!.n === "1" ? "shop" : "shops"}, so it cannot be removed. Shops cannot be moved to another cell`
          )
        for (const table of ["stale_account_copy", "api_key_cell"])
          yield* session.run(`delete from ${table} where cell = $1`, [name])
        yield* session.run("delete from cell where name = $1", [name])
        // If only the home cell is left, the database is a single store again.
        const [left] = yield* session.run<{ n: string }>("select count(*) as n from cell")
        if (left!.n === "1") yield* session.run("delete from cell")
        yield* recordAct(session, "database.cell_removed", { name })
        yield* session.run("commit")
        return { name, schema: cellOf(home!, name).schema }
      }).pipe(Effect.onError(() => Effect.exit(session.run("rollback"))))
      return removed
    })
  ).pipe(Effect.mapError(withRoleRemedy(OWNER_CHANGES)))

/** The interval between writes that probe a cell during a move, and the time after which such a write fails. */
const PROBE_INTERVAL = "5 millis"
const PROBE_TIMEOUT_MS = 60_000

/** Writes to the cell repeatedly while `work` runs. Returns the longest time between two successful writes. */
const measureLongestPause = <A, E>(url: string, { schema, name }: CellLocation, work: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const session = yield* openMigrationSession(url, { schema, statement_timeout_ms: PROBE_TIMEOUT_MS })
    const [longest, last] = [{ ms: 0 }, { at: yield* Clock.currentTimeMillis }]
    const recordPause = Effect.map(Clock.currentTimeMillis, (now) => {
      longest.ms = Math.max(longest.ms, now - last.at)
      last.at = now
    })
    const write = session.run("update database_label set name = name where name = $1", [nameLabelOf(name)])
    const probe = Effect.zipRight(write, recordPause).pipe(
      // A failed write counts as part of the pause.
      Effect.catchAll(() => Effect.void),
      Effect.zipRight(Effect.sleep(PROBE_INTERVAL)),
      Effect.forever
    )
    const probeFiber = yield* Effect.forkScoped(probe)
    const result = yield* work
    yield* Effect.zipRight(write, recordPause)
    yield* Fiber.interrupt(probeFiber)
    return [result, longest.ms] as const
  })

const NODES = `select nodename as host, nodeport::integer as port from pg_dist_node
  where isactive and shouldhaveshards and noderole = 'primary' order by nodeid`

/** Reads the names of the cells and the Citus workers to which they can move. Fails without Citus. */
const citusLayout = (session: Session, home: CellLocation) =>
  Effect.gen(function* () {
    if (!(yield* isCitus(session)))
      return yield* statementRefusal(
        "The database has no Citus, which is needed to move a cell. Move the cell's cluster by promoting a standby, and give its new address in --cells"
      )
    const names = (yield* cellsOf(session, home)).map(({ name }) => name)
    return { names, nodes: yield* session.run<CitusNode>(NODES) }
  })

/** Whether the coordinator can connect to a node. */
const isReached = (session: Session, { host, port }: CitusNode) =>
  Effect.map(
    session.run<{ is_reached: boolean }>("select citus_check_connection_to_node($1::text, $2::integer) as is_reached", [
      host,
      port
    ]),
    ([row]) => row?.is_reached === true
  )

const moveSchema = (session: Session, url: string, cell: CellLocation, to: CitusNode) =>
  Effect.gen(function* () {
    const from = (yield* nodesOf(session, [cell.schema])).get(cell.schema)
    if (from === undefined)
      return yield* statementRefusal(
        `Citus cannot move the cell ${cell.name}, because Citus does not distribute its schema. Run workshop migrate with this cell in --cells`
      )
    const started_at = yield* Clock.currentTimeMillis
    if (hostAndPort(from) === hostAndPort(to))
      return { name: cell.name, from: hostAndPort(from), to: hostAndPort(to), took_ms: 0, longest_pause_ms: 0 }
    if (!(yield* isReached(session, from)))
      return yield* statementRefusal(
        `The coordinator cannot reach the worker ${hostAndPort(from)}, from which the cell ${cell.name} would be copied. Start that worker. If it is lost, promote its standby and register the standby with citus_update_node, or restore the cell from a backup`
      )
    if (!(yield* isReached(session, to)))
      return yield* statementRefusal(
        `The coordinator cannot reach the worker ${hostAndPort(to)}. Start that worker, or move the cell ${cell.name} to another worker`
      )
    const shardMove = session.run("select citus_schema_move($1::regnamespace, $2::text, $3::integer)", [
      cell.schema,
      to.host,
      to.port
    ])
    const [, longest_pause_ms] = yield* Effect.mapError(measureLongestPause(url, cell, shardMove), (error) =>
      error.code === DENIED
        ? error
        : statementRefusal(
            `The cell ${cell.name} was not moved from ${hostAndPort(from)} to ${hostAndPort(to)} (${error.what}). Check that both nodes are running, call citus_cleanup_orphaned_resources() to remove the remains of an earlier move, and run the command again`
          )
    )
    const took_ms = (yield* Clock.currentTimeMillis) - started_at
    const moved: CellMoveResult = {
      name: cell.name,
      from: hostAndPort(from),
      to: hostAndPort(to),
      took_ms,
      longest_pause_ms
    }
    yield* recordAct(session, "database.cell_moved", { ...moved })
    return moved
  })

/** The options of {@link moveCell}. */
export interface MoveCellOptions extends Pick<Database, "schema"> {
  /** The cell's name in the directory. */
  readonly name: string
  /** The worker of Citus to which the cell is moved, as `host:port`. */
  readonly node: string
}

/** Moves a cell to another node of Citus while the cell is in use. Does nothing if the cell is on that node already. */
export const moveCell = (url: string, options: MoveCellOptions): Effect.Effect<CellMoveResult, DatabaseFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { name, node, schema } = options
      const [home] = yield* locateCells({ url, schema }, [])
      const session = yield* openMigrationSession(url, { schema: home!.schema })
      const { names, nodes } = yield* citusLayout(session, home!)
      if (name === HOME_CELL)
        return yield* statementRefusal(
          "The home cell cannot be moved from the coordinator, because it contains the directory of the cells and is not distributed"
        )
      if (!names.includes(name))
        return yield* statementRefusal(`There is no cell ${name}. List the cells with workshop cell list`)
      const to = nodes.find((one) => hostAndPort(one) === node)
      if (to === undefined)
        return yield* statementRefusal(
          `Citus has no worker ${node}. Choose one of ${nodes.map(hostAndPort).join(", ")}, or add the worker with citus_add_node`
        )
      return yield* moveSchema(session, url, cellOf(home!, name), to)
    })
  ).pipe(Effect.mapError(withRoleRemedy(OWNER_CHANGES)))

/** Counts only the schemas in $1, because other schemas, such as the schema of a removed cell, have no load. */
const PLAN = `select distinct n.nspname as schema, p.targetname as host, p.targetport as port
  from get_rebalance_table_shards_plan(rebalance_strategy := 'by_shard_count', excluded_shard_list := array(
    select s.shardid from pg_dist_shard s join pg_class c on c.oid = s.logicalrelid join pg_namespace n on n.oid = c.relnamespace
    where n.nspname <> all ($1)
  )) p
  join pg_class c on c.oid = p.table_name join pg_namespace n on n.oid = c.relnamespace order by 1`

/**
 * Moves cells according to Citus's rebalance plan, until all workers have about the same number. Returns the moves in
 * order.
 */
export const balanceCells = (
  url: string,
  options: Pick<Database, "schema"> = {}
): Effect.Effect<ReadonlyArray<CellMoveResult>, DatabaseFailed> =>
  Effect.scoped(
    Effect.gen(function* () {
      const [home] = yield* locateCells({ url, schema: options.schema }, [])
      const session = yield* openMigrationSession(url, { schema: home!.schema })
      const { names } = yield* citusLayout(session, home!)
      const cells = names.map((name) => cellOf(home!, name))
      const plannedMoves = yield* session.run<CitusNode & { readonly schema: string }>(PLAN, [
        cells.map(({ schema }) => schema)
      ])
      const moves = plannedMoves.flatMap(({ schema, ...to }) =>
        cells.filter((cell) => cell.schema === schema).map((cell) => ({ cell, to }))
      )
      return yield* Effect.forEach(moves, ({ cell, to }) => Effect.scoped(moveSchema(session, url, cell, to)))
    })
  ).pipe(Effect.mapError(withRoleRemedy(OWNER_CHANGES)))
