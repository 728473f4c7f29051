import type { SqlClient } from "@effect/sql/SqlClient"
import { Clock, Effect, Scope } from "effect"
import type pg from "pg"
import { readPool } from "../connection/Sql.js"
import type { Session } from "../migrate/Session.js"
import { sessionOf } from "../observe/PgProbe.js"
import type { CellLocation } from "./CellLocations.js"

/** A node of Citus. */
export interface CitusNode {
  readonly host: string
  readonly port: number
}

/** Whether the database has the extension Citus. */
export const isCitus = ({ run }: Session) =>
  Effect.map(
    run<{ readonly is_citus: boolean }>(
      "select /* workshop look for citus */ exists (select from pg_extension where extname = 'citus') as is_citus"
    ),
    ([row]) => row?.is_citus === true
  )

/**
 * Reads the nodes from the coordinator's catalogue, which is complete even while a node is unavailable. The statement
 * compares schema names, because a function that resolves table names fails for all schemas if the role may not use one
 * of them, as after a cell was added without grants.
 */
const FIND_NODES = `select /* workshop nodes of cells */ q.schema, p.nodename as host, p.nodeport::integer as port
  from unnest($1::text[]) q (schema)
  join pg_namespace n on n.nspname = q.schema
  join pg_class c on c.relnamespace = n.oid and c.relname = 'shop_head'
  join pg_dist_shard s on s.logicalrelid = c.oid
  join pg_dist_shard_placement p on p.shardid = s.shardid`

const AUTHORITY = /^([a-z]+:\/\/(?:[^@/?#]*@)?)[^/?#]*/i

/** The address of a node: the coordinator's address with the node's host and port. */
export const addressOfNode = (url: string, host: string, port: number): string => {
  const [path = "", query = ""] = url
    .replace(AUTHORITY, `$1${host.includes(":") ? `[${host}]` : host}:${port}`)
    .split("?")
  const others = [...new URLSearchParams(query)].filter(([name]) => name !== "host" && name !== "port")
  return others.length === 0 ? path : `${path}?${new URLSearchParams(others)}`
}

/** Reads the node of each distributed schema, by schema; empty without Citus. */
export const nodesOf = (session: Session, schemas: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    if (!(yield* isCitus(session))) return new Map<string, CitusNode>()
    const rows = yield* session.run<CitusNode & { readonly schema: string }>(FIND_NODES, [schemas])
    return new Map(rows.map(({ schema, ...node }) => [schema, node]))
  })

/** The interval at which the nodes of the cells are looked up again, because Citus may have moved a cell. */
const LOOK_UP_INTERVAL = "1 second"

/**
 * The current address of each cell, with a pool of read connections for each address. A cell that Citus distributes has
 * the address of its node, because a connection through the coordinator costs twice as much: on the node itself a
 * statement is planned once, timeouts apply directly, and a commit has one phase.
 */
export const cellNodes = (places: ReadonlyArray<CellLocation>, connections: number) =>
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
    const homeSchemas = places.filter(({ url }) => url === home!.url).map(({ schema }) => schema)
    const urlOf = ({ url, schema }: CellLocation) => (url === home!.url ? nodes.get(schema) : undefined) ?? url

    const lookUp = (sql: SqlClient) =>
      nodesOf(sessionOf(sql), homeSchemas).pipe(
        Effect.map(
          (nodes) =>
            new Map(
              [...nodes].map(([schema, { host, port }]) => [schema, addressOfNode(home!.url, host, port)] as const)
            )
        ),
        Effect.tap((nodes) => Effect.forEach(nodes.values(), openPool, { discard: true })),
        Effect.tap((byCell) =>
          Effect.sync(() => {
            nodes = byCell
          })
        )
      )
    return {
      urlOf,
      poolOf: (location: CellLocation) => pools.get(urlOf(location))!,
      isDistributed: (schema: string) => nodes.has(schema),
      /** Looks up the nodes of the cells now and every second. While the home cell is unavailable, the last known nodes stay. */
      followNodes: (sql: SqlClient) =>
        Effect.gen(function* () {
          const update = Effect.catchAll(lookUp(sql), () => Effect.void)
          yield* update
          const pause = Effect.withClock(Effect.sleep(LOOK_UP_INTERVAL), Clock.make())
          yield* Effect.forkIn(Effect.forever(Effect.zipRight(pause, update)), scope)
        })
    }
  })
