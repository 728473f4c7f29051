import { Effect } from "effect"
import {
  type CellPlaced,
  type CellsGiven,
  cellsRefused,
  cellWrong,
  HOME,
  idMarkOf,
  markOf,
  ofCell,
  placesOf
} from "../cells/CellPlaces.js"
import { DatabaseFailed } from "../connection/DatabaseFailed.js"
import { inSchema } from "../connection/Schema.js"
import { recordAct } from "./OperatorAudit.js"
import { connect, type Session } from "./Session.js"

/** A failure to bring a cell up to date, which names the cell. */
export const inCell = (cell: CellPlaced, error: { readonly message: string }): DatabaseFailed =>
  error instanceof DatabaseFailed && error.reason !== "statement"
    ? ofCell(cell)(error)
    : cellWrong(
        `The cell ${cell.name} cannot be brought up to date (${error.message.replace(/\.$/, "")}): mend that, and run the command again`
      )

const at = <A, E>(
  { url, schema }: CellPlaced,
  work: (session: Session, text: (sql: string) => string) => Effect.Effect<A, E>
) => Effect.scoped(Effect.flatMap(connect(url, { schema }), (session) => work(session, (sql) => inSchema(sql, schema))))

/** A table, its schema, or a column of it is not there. */
const UNDEFINED = ["42P01", "3F000", "42703"]

const orNothing = <A>(work: Effect.Effect<A, DatabaseFailed>) =>
  Effect.catchIf(
    work,
    ({ code }) => code !== undefined && UNDEFINED.includes(code),
    () => Effect.succeed(null)
  )

/** By which name and id a schema says that it is a cell, and whether it has shops; null if there are no tables yet. */
const found = (session: Session, text: (sql: string) => string) =>
  session
    .run<{ readonly mark: string | null; readonly id: string | null; readonly has_shops: boolean }>(
      text(
        `select (select substr(name, 6) from workshop.mark where name like 'cell:%') as mark,
          (select substr(name, 9) from workshop.mark where name like 'cell\\_id:%') as id, exists (select from workshop.shop) as has_shops`
      )
    )
    .pipe(
      Effect.map(([row]) => row ?? null),
      orNothing
    )

/** A cell of the directory. */
interface Known {
  readonly name: string
  /** Null where an older program made it. */
  readonly id: string | null
  readonly shops: string
}

/** The cells of the directory, also of an older one; none where there is no directory. `run` finds its tables in the schema `workshop`. */
export const knownCells = (run: Session["run"]) =>
  run<Known>(
    "select /* workshop cells */ name, to_jsonb(c) ->> 'id' as id, shops from workshop.cell c order by name"
  ).pipe(
    orNothing,
    Effect.map((rows) => rows ?? [])
  )

/** Refuses names that omit a cell of the directory: its shops would not be served. */
const refuseOmitted = (known: ReadonlyArray<Known>, names: ReadonlyArray<string>) => {
  if (known.length === 0) return Effect.void
  if (names.length === 1)
    return cellsRefused(
      `The database is the home cell of several (${known.map(({ name }) => name).join(", ")}), and no others were given`
    )
  const left = known.find(({ name }) => !names.includes(name))
  return left === undefined
    ? Effect.void
    : cellsRefused(`The directory names the cell ${left.name}, which was not given`)
}

/** Refuses a home cell that is a further cell of another one, and names that omit one of its cells. Nothing is written before. */
export const refuseBefore = (home: CellPlaced, names: ReadonlyArray<string>) =>
  at(home, (session, text) =>
    Effect.gen(function* () {
      const there = yield* found(session, text)
      if (there?.mark != null)
        return yield* cellsRefused(`The database is the cell ${there.mark} of another one, its home cell`)
      yield* refuseOmitted(yield* knownCells((sql) => session.run(text(sql))), names)
    })
  )

/** Refuses names, of which the home cell's is one, that are not those of the directory. `run` finds its tables in the schema `workshop`. */
export const refuseOtherNames = (run: Session["run"], names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const known = yield* knownCells(run)
    const missing = names.find((name) => !known.some((one) => one.name === name))
    if (names.length > 1 && missing !== undefined)
      return yield* cellWrong(
        `The directory does not know the cell ${missing}: check its name, or add it with workshop cell add or workshop migrate --cells`
      )
    yield* refuseOmitted(known, names)
  })

/**
 * Where the cells are that were given, the home cell first, if they are those of the directory. `confirm` refuses a place that is not the
 * cell that the directory knows.
 */
export const cellsGiven = (url: string, { schema, cells = [] }: CellsGiven) =>
  Effect.gen(function* () {
    const places = yield* placesOf({ url, schema }, cells)
    const known = yield* at(places[0]!, (session, text) => {
      const run: Session["run"] = (sql) => session.run(text(sql))
      const refused = refuseOtherNames(
        run,
        places.map(({ name }) => name)
      )
      return Effect.zipRight(refused, knownCells(run))
    })
    const confirm = (place: CellPlaced) =>
      place.name === HOME
        ? Effect.void
        : Effect.mapError(
            refuseOtherCell(
              place,
              known.find(({ name }) => name === place.name)
            ),
            ofCell(place)
          )
    return { places, confirm }
  })

/** Refuses a place that is another cell, or has shops of its own; and of a cell that the directory knows, every other place. */
export const refuseOtherCell = (cell: CellPlaced, known: Known | undefined) =>
  at(cell, (session, text) =>
    Effect.gen(function* () {
      const { name } = cell
      const there = yield* found(session, text)
      if (there?.mark != null && there.mark !== name)
        return yield* cellWrong(
          `Where the cell ${name} should be is the cell ${there.mark}: give each cell the address that it had before`
        )
      if (known === undefined) {
        if (there?.has_shops === true)
          return yield* cellWrong(
            `Where the cell ${name} should be are shops already: name an empty database or schema for it, or restore the home cell that knows it`
          )
        return
      }
      const remedy = `check its address, or restore it there; workshop cell remove ${name} removes a cell that never had shops`
      if (there?.mark == null)
        return yield* cellWrong(`The directory knows the cell ${name}, but it is not at its address: ${remedy}`)
      if (known.id !== null && there.id !== known.id)
        return yield* cellWrong(`Where the cell ${name} should be is another cell of that name: ${remedy}`)
      if (known.id === null && Number(known.shops) > 0 && !there.has_shops)
        return yield* cellWrong(
          `The directory placed ${Number(known.shops) === 1 ? "1 shop" : `${known.shops} shops`} in the cell ${name}, and at its address it has none: ${remedy}`
        )
    })
  )

/**
 * Lets Citus keep the schema on one of its workers, where all its tables are together. Tables that are not logged would hold up a move
 * to another one. Elsewhere it does nothing.
 */
export const distribute = (cell: CellPlaced) =>
  at(cell, (session) =>
    Effect.gen(function* () {
      const [place] = yield* session.run<{ is_citus: boolean }>(
        "select exists (select from pg_extension where extname = 'citus') as is_citus"
      )
      if (place?.is_citus !== true) return
      const [there] = yield* session.run<{ is_distributed: boolean }>(
        "select exists (select from pg_dist_schema s join pg_namespace n on n.oid = s.schemaid where n.nspname = $1) as is_distributed",
        [cell.schema]
      )
      if (there?.is_distributed === true) return
      for (const table of ["rate_limit", "server_life"]) yield* session.run(`alter table ${table} set logged`)
      yield* session.run("select citus_schema_distribute($1::regnamespace)", [cell.schema])
    })
  )

/** Writes into a schema which cell it is, and returns the id by which the directory will know it. */
export const markCell = (cell: CellPlaced, known: Known | undefined) =>
  at(cell, (session, text) =>
    Effect.gen(function* () {
      const there = yield* found(session, text)
      if (there?.id != null) return there.id
      const [made] = yield* session.run<{ readonly id: string }>("select gen_random_uuid()::text as id")
      const id = known?.id ?? made!.id
      yield* session.run(text("insert into workshop.mark (name) values ($1), ($2) on conflict do nothing"), [
        markOf(cell.name),
        idMarkOf(id)
      ])
      return id
    })
  )

/** Makes the directory know the cells. Accounts that are there already are copied by the first process that serves the cells. */
export const knowCells = (home: CellPlaced, others: ReadonlyArray<{ readonly name: string; readonly id: string }>) =>
  at(home, (session, text) =>
    Effect.gen(function* () {
      const [place] = yield* session.run<{ readonly is_citus: boolean; readonly shops: string }>(
        text(
          `select exists (select from pg_extension where extname = 'citus') as is_citus, (select count(*) from workshop.shop) as shops`
        )
      )
      const { is_citus, shops } = place!
      yield* session.run("begin")
      // Accounts that are being opened are either there already, or come with notes of the cells.
      yield* session.run(text("lock table workshop.client_account in share mode"))
      // The coordinator of Citus has the directory alone, unless it had shops before.
      yield* session.run(
        text("insert into workshop.cell (name, takes_shops, shops) values ($1, $2, $3) on conflict do nothing"),
        [HOME, !is_citus || Number(shops) > 0, shops]
      )
      const made = yield* session.run<{ readonly name: string }>(
        text(
          "insert into workshop.cell (name, takes_shops, shops, id) select name, true, 0, id from unnest($1::text[], $2::text[]) n (name, id) on conflict do nothing returning name"
        ),
        [others.map(({ name }) => name), others.map(({ id }) => id)]
      )
      yield* session.run(
        text(
          "update workshop.cell c set id = n.id from unnest($1::text[], $2::text[]) n (name, id) where c.name = n.name and c.id is null"
        ),
        [others.map(({ name }) => name), others.map(({ id }) => id)]
      )
      yield* session.run(
        text(
          "insert into workshop.account_copy (client_id, cell) select a.id, n.name from workshop.client_account a cross join unnest($1::text[]) n (name) on conflict do nothing"
        ),
        [made.map(({ name }) => name)]
      )
      if (made.length > 0) yield* recordAct(session, "database.cells_added", { cells: made.map(({ name }) => name) })
      yield* session.run("commit")
      return made.map(({ name }) => name)
    }).pipe(Effect.onError(() => Effect.exit(session.run("rollback"))))
  )
