import { MINUTE_MS, ServiceLimits } from "@workshop/core/store"
import { Clock, Effect } from "effect"
import { checkGivenCells } from "../cells/CellIdentity.js"
import { type CellLocation, type CellOptions, cellFailure, HOME_CELL } from "../cells/CellLocations.js"
import { DatabaseFailed, withRoleRemedy } from "../connection/DatabaseFailed.js"
import { inSchema } from "../connection/Schema.js"
import type { SchemaCheckError } from "../migrate/MigrationError.js"
import { checkOn } from "../migrate/Migrator.js"
import { openMigrationSession, type Session } from "../migrate/Session.js"
import { type Invariant, invariants } from "./invariants.js"

/** A violated invariant. */
export interface InvariantViolation {
  /** The name of the invariant, such as `event-order`. */
  readonly name: string
  /** A sentence about what is wrong with the rows. */
  readonly finds: string
  /** The cell in which it is violated. Omitted if there is only one cell, or the violation concerns several. */
  readonly cell?: string
  /** The number of violating rows. */
  readonly count: number
  /** The first five rows at most; their columns depend on the check. */
  readonly first: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** The result of checking all invariants. */
export interface CheckResult {
  /** The number of checks. */
  readonly checks: number
  /** The violated invariants; empty if the data are consistent. */
  readonly findings: ReadonlyArray<InvariantViolation>
}

const MAX_SHOWN_ROWS = 5
const CANCELED = "57014"

/**
 * The SQL that counts the violations of an invariant. The rows are materialized, so that many rows use a temporary
 * file, not memory.
 */
const countSql = ({
  name,
  sql
}: Invariant): string => `with /* workshop check ${name} */ violations as materialized (${sql})
  select (select count(*)::integer from violations) as count,
    coalesce((select json_agg(v) from (select * from violations limit ${MAX_SHOWN_ROWS}) v), '[]') as first`

const violationsOf = (session: Session, invariant: Invariant, timeout_ms: number) =>
  session.run<Pick<InvariantViolation, "count" | "first">>(countSql(invariant)).pipe(
    Effect.map(([row]): InvariantViolation => ({ name: invariant.name, finds: invariant.finds, ...row! })),
    Effect.mapError((failed) =>
      failed.code === CANCELED
        ? new DatabaseFailed({
            reason: "statement",
            code: CANCELED,
            what: `The check ${invariant.name} took longer than ${timeout_ms / 1000} seconds. Increase --timeout, or check a copy of the database`
          })
        : failed
    )
  )

/** Checks the invariants in the transaction that a session has begun. Each check may take `timeout_ms`. */
export const checkInvariants = Effect.fnUntraced(function* (session: Session, timeout_ms: number) {
  const dataInvariants = invariants((yield* Clock.currentTimeMillis) - ServiceLimits.events_kept_min_ms)
  const findings = yield* Effect.forEach(dataInvariants, (invariant) => violationsOf(session, invariant, timeout_ms))
  return { checks: dataInvariants.length, findings: findings.filter(({ count }) => count > 0) } satisfies CheckResult
})

const checkOne = (session: Session, schema: string, timeout_ms: number) =>
  Effect.gen(function* () {
    yield* checkOn(session, schema)
    yield* session.run("begin isolation level repeatable read read only")
    return yield* checkInvariants(session, timeout_ms)
  }).pipe(
    Effect.mapError(
      withRoleRemedy(
        "The database role may not read every table. Use the service's role, such as workshop_service, or the owner of the tables"
      )
    )
  )

interface OpenCellSession {
  readonly location: CellLocation
  readonly session: Session
}

/**
 * Compares the shops in each cell with the directory, in which shops of the home cell need no row. Reports shops in a
 * cell in which the directory did not place them, such as a shop in two cells, and shops that are missing in the cell
 * that the directory names.
 */
const misplacedShops = (home: OpenCellSession, cells: ReadonlyArray<OpenCellSession>) =>
  Effect.gen(function* () {
    const cellsByShop = new Map(
      (yield* home.session.run<{ shop_id: string; cell: string }>(
        inSchema("select shop_id, cell from workshop.shop_cell", home.location.schema)
      )).map(({ shop_id, cell }) => [shop_id, cell])
    )
    const misplacedRows: Array<InvariantViolation["first"][number]> = []
    const missing: Array<InvariantViolation["first"][number]> = []
    for (const { location, session } of cells) {
      const rows = yield* session.run<{ id: string }>(
        inSchema("select id from workshop.shop order by id", location.schema)
      )
      const there = new Set(rows.map(({ id }) => id))
      for (const id of there) {
        const directory = cellsByShop.get(id) ?? HOME_CELL
        if (directory !== location.name) misplacedRows.push({ shop_id: id, cell: location.name, directory })
      }
      for (const [shop_id, directory] of cellsByShop)
        if (directory === location.name && !there.has(shop_id)) missing.push({ shop_id, directory })
    }
    const toViolation = (name: string, finds: string, rows: typeof misplacedRows): InvariantViolation => ({
      ...{ name, finds, count: rows.length },
      first: rows.slice(0, MAX_SHOWN_ROWS)
    })
    return [
      toViolation("shop-cell", "Shops are in a cell in which the directory did not place them", misplacedRows),
      toViolation(
        "cell-shop",
        "The directory placed these shops in a cell that does not have them. The cell was restored to an earlier time than the home cell, is another cell, or was unavailable when the shops were created",
        missing
      )
    ]
  })

const open = (location: CellLocation, timeout_ms: number) =>
  Effect.map(
    openMigrationSession(location.url, { schema: location.schema, statement_timeout_ms: timeout_ms }),
    (session) => ({
      location,
      session
    })
  )

/**
 * The findings of one cell. If there are several cells, an unresponsive cell is a finding, so that the other cells are
 * still checked.
 */
const checkCell = (
  location: CellLocation,
  confirmed: Effect.Effect<void, DatabaseFailed>,
  isOneOfSeveral: boolean,
  timeout_ms: number
) =>
  Effect.gen(function* () {
    yield* confirmed
    const session = yield* open(location, timeout_ms)
    const { checks, findings } = yield* checkOne(session.session, location.schema, timeout_ms)
    return {
      checks,
      findings: isOneOfSeveral ? findings.map((finding) => ({ cell: location.name, ...finding })) : findings,
      opened: [session]
    }
  }).pipe(
    Effect.catchIf(
      (error) =>
        isOneOfSeveral && location.name !== HOME_CELL && error._tag === "DatabaseFailed" && error.code !== CANCELED,
      (error) => {
        const { message } = error._tag === "DatabaseFailed" ? cellFailure(location)(error) : error
        const unavailable = {
          cell: location.name,
          name: "cell-unavailable",
          finds: `The cell could not be checked (${message.replace(/\.$/, "")})`
        }
        return Effect.succeed({ checks: 1, findings: [{ ...unavailable, count: 1, first: [] }], opened: [] })
      }
    )
  )

/** The options of a check of the data. */
export interface CheckDataOptions extends CellOptions {
  /** The time that each check may take, in milliseconds; five minutes by default. */
  readonly timeoutMs?: number | undefined
}

const DEFAULT_TIMEOUT_MS = 5 * MINUTE_MS

/**
 * Checks, in every cell, the invariants that the program maintains and the database does not enforce. Reads one
 * snapshot of each cell and changes nothing. The schemas must have this program's version.
 */
export const checkData = (url: string, options: CheckDataOptions = {}): Effect.Effect<CheckResult, SchemaCheckError> =>
  Effect.gen(function* () {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options
    const { locations, confirm } = yield* checkGivenCells(url, options)
    const checked = yield* Effect.forEach(locations, (location) =>
      checkCell(location, confirm(location), locations.length > 1, timeoutMs)
    )
    const openedCells = checked.flatMap((result): ReadonlyArray<OpenCellSession> => result.opened)
    const acrossCells = locations.length === 1 ? [] : yield* misplacedShops(openedCells[0]!, openedCells)
    const result: CheckResult = {
      checks: checked.reduce((sum, { checks }) => sum + checks, acrossCells.length),
      findings: [
        ...checked.flatMap(({ findings }): ReadonlyArray<InvariantViolation> => findings),
        ...acrossCells.filter(({ count }) => count > 0)
      ]
    }
    return result
  }).pipe(Effect.scoped)
