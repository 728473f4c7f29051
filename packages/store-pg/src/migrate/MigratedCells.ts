import { Effect } from "effect"
import { type CellPlaced, type CellsGiven, cellsRefused, HOME, markOf, placesOf } from "../CellPlaces.js"
import { inSchema } from "../Schema.js"
import type { DatabaseFailed } from "./DatabaseFailed.js"
import { connect, type Session } from "./Session.js"

/** A failure of a cell, which says of which one. */
export const inCell = ({ name }: CellPlaced, error: { readonly message: string }): DatabaseFailed =>
  cellsRefused(`The cell ${name} cannot be brought up to date (${error.message.replace(/\.$/, "")})`)

const at = <A, E>(
  { url, schema }: CellPlaced,
  work: (session: Session, text: (sql: string) => string) => Effect.Effect<A, E>
) => Effect.scoped(Effect.flatMap(connect(url, { schema }), (session) => work(session, (sql) => inSchema(sql, schema))))

const UNDEFINED = ["42P01", "3F000"]

/** By which name a schema says that it is a cell, and whether it has shops; null if there are no tables yet. */
const found = (session: Session, text: (sql: string) => string) =>
  session
    .run<{ readonly mark: string | null; readonly has_shops: boolean }>(
      text(
        `select (select name from workshop.mark where name like 'cell:%') as mark, exists (select from workshop.shop) as has_shops`
      )
    )
    .pipe(
      Effect.map(([row]) => row ?? null),
      Effect.catchIf(
        ({ code }) => code !== undefined && UNDEFINED.includes(code),
        () => Effect.succeed(null)
      )
    )

/** Refuses a home cell that is a further cell of another one. */
export const refuseCell = (home: CellPlaced) =>
  at(home, (session, text) =>
    Effect.flatMap(found(session, text), (there) =>
      there?.mark == null
        ? Effect.void
        : cellsRefused(`The database is the cell ${there.mark.slice("cell:".length)} of another one, its home cell`)
    )
  )

/** Refuses names, of which the home cell's is one, that are not those of the directory. `run` finds its tables in the schema `workshop`. */
export const refuseOtherNames = (run: Session["run"], names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const rows = yield* run<{ readonly name: string }>(
      "select /* workshop cells */ name from workshop.cell order by name"
    )
    const known = rows.map(({ name }) => name)
    if (names.length === 1 && known.length === 0) return
    if (names.length === 1)
      return yield* cellsRefused(
        `The database is the home cell of several (${known.join(", ")}), and no others were given`
      )
    const missing = names.find((name) => !known.includes(name))
    if (missing !== undefined)
      return yield* cellsRefused(
        `The directory does not know the cell ${missing}: run workshop migrate --cells with it first`
      )
    const left = known.find((name) => !names.includes(name))
    if (left !== undefined) return yield* cellsRefused(`The directory names the cell ${left}, which was not given`)
  })

/** Where the cells are that were given, the home cell first, if they are those of the directory. */
export const cellsGiven = (url: string, { schema, cells = [] }: CellsGiven) =>
  Effect.gen(function* () {
    const places = yield* placesOf({ url, schema }, cells)
    yield* at(places[0]!, (session, text) =>
      refuseOtherNames(
        (sql) => session.run(text(sql)),
        places.map(({ name }) => name)
      )
    )
    return places
  })

/** Refuses a place that is another cell, or has shops of its own. */
export const refuseOtherCell = (cell: CellPlaced) =>
  at(cell, (session, text) =>
    Effect.flatMap(found(session, text), (there) => {
      if (there === null || there.mark === markOf(cell.name)) return Effect.void
      if (there.mark !== null)
        return cellsRefused(`Where the cell ${cell.name} should be is the cell ${there.mark.slice("cell:".length)}`)
      return there.has_shops
        ? cellsRefused(
            `Where the cell ${cell.name} should be are shops already: name an empty database or schema for it`
          )
        : Effect.void
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

/** Lets a schema say which cell it is, and copies the accounts of clients that it will need. */
export const markCell = (cell: CellPlaced) =>
  at(cell, (session, text) =>
    session.run(text("insert into workshop.mark (name) values ($1) on conflict do nothing"), [markOf(cell.name)])
  )

/** Makes the directory know the cells. Accounts that are there already are copied by the first process that serves the cells. */
export const knowCells = (home: CellPlaced, others: ReadonlyArray<CellPlaced>) =>
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
          "insert into workshop.cell (name, takes_shops, shops) select name, true, 0 from unnest($1::text[]) n (name) on conflict do nothing returning name"
        ),
        [others.map(({ name }) => name)]
      )
      yield* session.run(
        text(
          "insert into workshop.account_copy (client_id, cell) select a.id, n.name from workshop.client_account a cross join unnest($1::text[]) n (name) on conflict do nothing"
        ),
        [made.map(({ name }) => name)]
      )
      yield* session.run("commit")
    }).pipe(Effect.onError(() => Effect.exit(session.run("rollback"))))
  )
