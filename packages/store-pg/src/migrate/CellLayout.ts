import { Clock, Effect, Fiber } from "effect"
import { type CellAddress, type CellPlaced, type CellsGiven, HOME, markOf, placesOf } from "../CellPlaces.js"
import { FIND_NODES } from "../CitusNodes.js"
import { type Database, inSchema } from "../Schema.js"
import { DatabaseFailed } from "./DatabaseFailed.js"
import { checkOn, migrate } from "./Migrator.js"
import { recordAct } from "./OperatorAudit.js"
import { connect, type Session } from "./Session.js"

/** A cell as the directory and its own database describe it. */
export interface CellStatus {
  readonly name: string
  readonly schema: string
  /** Host and port of the server that keeps it, without user and password. */
  readonly node: string
  /** How many shops were placed there. */
  readonly shops: number
  /** Whether new shops are placed there. */
  readonly takes_shops: boolean
  /** `ready`, or why it cannot be used. */
  readonly state: string
}

/** A cell that was moved from one node to another. */
export interface CellMoved {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly took_ms: number
  /** The longest time in which a write to the cell had to wait, seen by a write every few milliseconds. */
  readonly longest_pause_ms: number
}

/** A node of Citus, as `host:port`. */
interface Node {
  readonly host: string
  readonly port: number
}

const refused = (what: string) => new DatabaseFailed({ reason: "statement", code: undefined, what })

const shown = ({ host, port }: Node): string => `${host.includes(":") ? `[${host}]` : host}:${port}`

const serverOf = (url: string): string => /^[a-z]+:\/\/(?:[^@/?#]*@)?([^/?#]*)/i.exec(url)?.[1] || "localhost"

const isCitus = (session: Session) =>
  Effect.map(
    session.run<{ is_citus: boolean }>("select exists (select from pg_extension where extname = 'citus') as is_citus"),
    ([row]) => row?.is_citus === true
  )

/** The nodes on which Citus keeps schemas; empty elsewhere. */
const nodesOf = (session: Session, schemas: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    if (!(yield* isCitus(session))) return new Map<string, Node>()
    const found = yield* session.run<Node & { readonly schema: string }>(FIND_NODES, [schemas])
    return new Map(found.map(({ schema, ...node }) => [schema, node]))
  })

/** The cells of the directory; the home cell alone where there are no others. */
const known = (session: Session, home: CellPlaced) =>
  Effect.map(
    session.run<{ name: string; shops: string; takes_shops: boolean; all: string }>(
      inSchema(
        `select c.name, c.shops, c.takes_shops, (select count(*) from workshop.shop) as all from (
          select name, shops, takes_shops from workshop.cell union all
          select '${HOME}', 0, true where not exists (select from workshop.cell)
        ) c order by c.name <> '${HOME}', length(c.name), c.name`,
        home.schema
      )
    ),
    (rows) => rows.map((row) => ({ ...row, shops: Number(rows.length === 1 ? row.all : row.shops) }))
  )

/** A further cell in the database of the home cell. */
const cellOf = (home: CellPlaced, name: string): CellPlaced => ({
  name,
  url: home.url,
  schema: `${home.schema}_${name}`
})

const stateOf = ({ url, schema, name }: CellPlaced) =>
  Effect.scoped(
    Effect.gen(function* () {
      const session = yield* connect(url, { schema, statement_timeout_ms: 3_000 })
      yield* checkOn(session, schema)
      if (name === HOME) return "ready"
      const [marked] = yield* session.run("select from mark where name = $1", [markOf(name)])
      return marked === undefined ? "Another cell is in its place" : "ready"
    })
  ).pipe(Effect.catchAll(({ message }) => Effect.succeed(message)))

/** Every cell that the directory knows, where it is, and whether it can be used. `cells` gives the addresses of other clusters. */
export const listCells = (url: string, { schema, cells = [] }: CellsGiven = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const [home, ...given] = yield* placesOf({ url, schema }, cells)
      const session = yield* connect(url, { schema: home!.schema })
      yield* checkOn(session, home!.schema)
      const found = yield* known(session, home!)
      const unknown = given.find(({ name }) => !found.some((one) => one.name === name))
      if (unknown !== undefined)
        return yield* refused(
          `The directory does not know the cell ${unknown.name}: workshop cell add adds one, and without --cells this command lists those it knows`
        )
      const placed = found.map((one) => ({
        ...one,
        place: [home!, ...given].find(({ name }) => name === one.name) ?? cellOf(home!, one.name)
      }))
      const nodes = yield* nodesOf(
        session,
        placed.flatMap(({ place }) => (place.url === url ? [place.schema] : []))
      )
      return yield* Effect.forEach(
        placed,
        ({ name, shops, takes_shops, place }) =>
          Effect.map(stateOf(place), (state): CellStatus => {
            const node = place.url === url ? nodes.get(place.schema) : undefined
            const { schema } = place
            return {
              name,
              schema,
              node: node === undefined ? serverOf(place.url) : shown(node),
              shops,
              takes_shops,
              state
            }
          }),
        { concurrency: 8 }
      )
    })
  )

/** Makes a further cell and lets the directory know it. Answers the names of the migrations that were applied. */
export const addCell = (url: string, cell: CellAddress, { schema }: Pick<Database, "schema"> = {}) =>
  Effect.gen(function* () {
    const [home] = yield* placesOf({ url, schema }, [cell])
    const names = yield* Effect.scoped(
      Effect.gen(function* () {
        const session = yield* connect(url, { schema: home!.schema })
        yield* checkOn(session, home!.schema)
        return yield* known(session, home!)
      })
    )
    if (names.some(({ name }) => name === cell.name))
      return yield* refused(`The directory knows a cell ${cell.name} already: choose another name`)
    return yield* migrate(url, { schema: home!.schema, cells: [cell] })
  })

/** How often a write looks whether the cell takes writes, and after how long it gives up. */
const PROBE_EVERY = "5 millis"
const PROBE_MOST_MS = 60_000

/** Writes to the cell again and again while `work` runs; answers the longest time between two writes that succeeded. */
const longestPause = <A, E>(url: string, { schema, name }: CellPlaced, work: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const session = yield* connect(url, { schema, statement_timeout_ms: PROBE_MOST_MS })
    const [longest, last] = [{ ms: 0 }, { at: yield* Clock.currentTimeMillis }]
    const note = Effect.map(Clock.currentTimeMillis, (now) => {
      longest.ms = Math.max(longest.ms, now - last.at)
      last.at = now
    })
    const write = session.run("update mark set name = name where name = $1", [markOf(name)])
    const probe = Effect.zipRight(write, note).pipe(
      // A write that the move refuses has not been made: the pause goes on.
      Effect.catchAll(() => Effect.void),
      Effect.zipRight(Effect.sleep(PROBE_EVERY)),
      Effect.forever
    )
    const probing = yield* Effect.forkScoped(probe)
    const done = yield* work
    yield* Effect.zipRight(write, note)
    yield* Fiber.interrupt(probing)
    return [done, longest.ms] as const
  })

const NODES = `select nodename as host, nodeport::integer as port from pg_dist_node
  where isactive and shouldhaveshards and noderole = 'primary' order by nodeid`

/** The names of the cells and the workers of Citus, between which a move is possible; refused where there is no Citus. */
const layout = (session: Session, home: CellPlaced) =>
  Effect.gen(function* () {
    if (!(yield* isCitus(session)))
      return yield* refused(
        "Only Citus can move a cell, and this database does not have it: move a cell's cluster with a standby that you promote, and give its new address in --cells"
      )
    const names = (yield* known(session, home)).map(({ name }) => name)
    return { names, nodes: yield* session.run<Node>(NODES) }
  })

const moveOn = (session: Session, url: string, cell: CellPlaced, to: Node) =>
  Effect.gen(function* () {
    const from = (yield* nodesOf(session, [cell.schema])).get(cell.schema)
    if (from === undefined)
      return yield* refused(
        `The cell ${cell.name} is not a schema that Citus distributes, so Citus cannot move it: run workshop migrate --cells with it`
      )
    const begun = yield* Clock.currentTimeMillis
    if (shown(from) === shown(to))
      return { name: cell.name, from: shown(from), to: shown(to), took_ms: 0, longest_pause_ms: 0 }
    const move = session.run("select citus_schema_move($1::regnamespace, $2::text, $3::integer)", [
      cell.schema,
      to.host,
      to.port
    ])
    const [, longest_pause_ms] = yield* longestPause(url, cell, move)
    const took_ms = (yield* Clock.currentTimeMillis) - begun
    const moved: CellMoved = { name: cell.name, from: shown(from), to: shown(to), took_ms, longest_pause_ms }
    yield* recordAct(session, "database.cell_moved", { ...moved })
    return moved
  })

/** Moves a cell to another node of Citus while it is used. One that is there already is left alone. */
export const moveCell = (url: string, name: string, node: string, { schema }: Pick<Database, "schema"> = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const [home] = yield* placesOf({ url, schema }, [])
      const session = yield* connect(url, { schema: home!.schema })
      const { names, nodes } = yield* layout(session, home!)
      if (name === HOME)
        return yield* refused("The home cell stays on the coordinator: it has the directory, and it is not distributed")
      if (!names.includes(name))
        return yield* refused(`The directory does not know the cell ${name}: workshop cell list shows those it knows`)
      const to = nodes.find((one) => shown(one) === node)
      if (to === undefined)
        return yield* refused(
          `Citus has no worker ${node}: choose one of ${nodes.map(shown).join(", ")}, or add it with citus_add_node`
        )
      return yield* moveOn(session, url, cellOf(home!, name), to)
    })
  )

const PLAN = `select distinct n.nspname as schema, p.targetname as host, p.targetport as port
  from get_rebalance_table_shards_plan(rebalance_strategy := 'by_shard_count') p
  join pg_class c on c.oid = p.table_name join pg_namespace n on n.oid = c.relnamespace order by 1`

/** Moves cells as Citus plans it, until each worker has as many. Answers the moves, in their order. */
export const balanceCells = (url: string, { schema }: Pick<Database, "schema"> = {}) =>
  Effect.scoped(
    Effect.gen(function* () {
      const [home] = yield* placesOf({ url, schema }, [])
      const session = yield* connect(url, { schema: home!.schema })
      const { names } = yield* layout(session, home!)
      const planned = yield* session.run<Node & { readonly schema: string }>(PLAN)
      const cells = names.map((name) => cellOf(home!, name))
      const moves = planned.flatMap(({ schema, ...to }) =>
        cells.filter((cell) => cell.schema === schema).map((cell) => ({ cell, to }))
      )
      return yield* Effect.forEach(moves, ({ cell, to }) => Effect.scoped(moveOn(session, url, cell, to)))
    })
  )
