import type { SqlClient } from "@effect/sql/SqlClient"
import { Clock, Effect, Scope } from "effect"
import type pg from "pg"
import { readPool } from "../connection/Sql.js"
import type { CellPlaced } from "./CellPlaces.js"

/** The node of Citus on which a schema lies. */
interface Found {
  readonly schema: string
  readonly host: string
  readonly port: number
}

const IS_CITUS =
  "select /* workshop look for citus */ exists (select from pg_extension where extname = 'citus') as is_citus"

/**
 * From the catalogue of the coordinator, which knows it also while the node is away. Each schema is found by its name: a function that
 * resolves a table's name is refused for all of them where the role may not use one, as after a cell was added without grants.
 */
export const FIND_NODES = `select /* workshop nodes of cells */ q.schema, p.nodename as host, p.nodeport::integer as port
  from unnest($1::text[]) q (schema)
  join pg_namespace n on n.nspname = q.schema
  join pg_class c on c.relnamespace = n.oid and c.relname = 'shop_head'
  join pg_dist_shard s on s.logicalrelid = c.oid
  join pg_dist_shard_placement p on p.shardid = s.shardid`

const AUTHORITY = /^([a-z]+:\/\/(?:[^@/?#]*@)?)[^/?#]*/i

/** The address of a node: that of the coordinator with another server. */
export const addressOfNode = (url: string, host: string, port: number): string => {
  const [path = "", query = ""] = url
    .replace(AUTHORITY, `$1${host.includes(":") ? `[${host}]` : host}:${port}`)
    .split("?")
  const others = [...new URLSearchParams(query)].filter(([name]) => name !== "host" && name !== "port")
  return others.length === 0 ? path : `${path}?${new URLSearchParams(others)}`
}

/**
 * The addresses of the nodes on which schemas lie that Citus distributes. A connection to the node of a cell costs half of one through
 * another node: statements are planned once, time-outs hold where the rows are, and a commit takes one phase. Empty elsewhere.
 */
const nodesOf = (sql: SqlClient, url: string, schemas: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const [row] = yield* sql.unsafe<{ readonly is_citus: boolean }>(IS_CITUS)
    if (row?.is_citus !== true) return new Map<string, string>()
    const found = yield* sql.unsafe<Found>(FIND_NODES, [[...schemas]])
    return new Map(found.map(({ schema, host, port }) => [schema, addressOfNode(url, host, port)]))
  })

/** How often it is looked on which nodes the cells lie, as they may move. */
const LOOK_EVERY = "1 second"

/** Where each cell is just now, with a pool of connections for reads to each address. */
export const cellNodes = (places: ReadonlyArray<CellPlaced>, connections: number) =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const pools = new Map<string, pg.Pool>()
    const openPool = (url: string) =>
      pools.has(url)
        ? Effect.void
        : Effect.map(Scope.extend(readPool({ url, connections }), scope), (pool) => {
            pools.set(url, pool)
          })
    yield* Effect.forEach(places, ({ url }) => openPool(url), { discard: true })
    const [home] = places
    let nodes: ReadonlyMap<string, string> = new Map()
    const ofHome = places.filter(({ url }) => url === home!.url).map(({ schema }) => schema)
    const urlOf = ({ url, schema }: CellPlaced) => (url === home!.url ? nodes.get(schema) : undefined) ?? url

    const look = (sql: SqlClient) =>
      nodesOf(sql, home!.url, ofHome).pipe(
        Effect.tap((found) => Effect.forEach(found.values(), openPool, { discard: true })),
        Effect.tap((found) =>
          Effect.sync(() => {
            nodes = found
          })
        )
      )
    return {
      urlOf,
      poolOf: (place: CellPlaced) => pools.get(urlOf(place))!,
      isDistributed: (schema: string) => nodes.has(schema),
      /** Looks now, and then again and again where the cells lie on nodes of Citus. A home cell that is away leaves them where they were. */
      follow: (sql: SqlClient) =>
        Effect.gen(function* () {
          const quietly = Effect.catchAll(look(sql), () => Effect.void)
          yield* quietly
          const again = Effect.withClock(Effect.sleep(LOOK_EVERY), Clock.make())
          yield* Effect.forkIn(Effect.forever(Effect.zipRight(again, quietly)), scope)
        })
    }
  })
