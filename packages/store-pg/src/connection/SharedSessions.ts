import { Effect, Scope } from "effect"
import { type Connection, type ConnectionOptions, type ReconnectingConnection, reconnecting } from "./Connection.js"
import type { Settings } from "./SessionClient.js"
import { textsIn } from "./Statement.js"

/*
 * Connections that several cells share. For any number of cells, a process has one connection for each purpose and address (lane 1,
 * lane 2, claims and so on), which a cell holds during its transaction. Every statement names the schema of its cell, and is prepared
 * under a name that begins with the schema's number.
 */

const numbers = new Map<string, number>()

/** A short name for a schema, as Postgres cuts the names of prepared statements at 63 characters. */
const numberOf = (schema: string): number => {
  const number = numbers.get(schema) ?? numbers.size + 1
  numbers.set(schema, number)
  return number
}

/** A connection whose statements use the tables of a schema. */
const inSchemaOf = (connection: Connection, schema: string): Connection => {
  const textOf = textsIn(schema)
  const prefix = `${numberOf(schema)} `
  return {
    ...connection,
    send: (...groups) =>
      connection.send(
        ...groups.map((statements) =>
          statements.map((one) => ({
            name: one.name === "" ? "" : prefix + one.name,
            text: textOf(one),
            values: one.values
          }))
        )
      )
  }
}

interface SharedConnection {
  readonly link: ReconnectingConnection
  readonly semaphore: Effect.Semaphore
}

/** The schema of a cell, and its address, which may change, as when Citus moves the cell to another node. */
export interface CellPlace {
  readonly schema: string
  readonly url: Effect.Effect<string>
  /** The planner settings for its node, because Citus refuses to plan statements once for all values. */
  readonly plans: () => Settings
}

/** Shares connections among cells, one for each name and address, until the scope closes. */
export const sharedSessions: Effect.Effect<
  (place: CellPlace) => (options: ConnectionOptions) => Effect.Effect<ReconnectingConnection>,
  never,
  Scope.Scope
> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const connections = new Map<string, SharedConnection>()

  const connectionFor = (options: ConnectionOptions, url: string): Effect.Effect<SharedConnection> =>
    Effect.suspend(() => {
      const key = `${options.name} ${url}`
      const existing = connections.get(key)
      if (existing !== undefined) return Effect.succeed(existing)
      const { schema: _, ...rest } = options
      // This is synchronous and opens no connection yet, so no other cell can make the same one meanwhile.
      return Effect.map(Scope.extend(reconnecting({ ...rest, url }), scope), (link) => {
        const shared = { link, semaphore: Effect.unsafeMakeSemaphore(1) }
        connections.set(key, shared)
        return shared
      })
    })

  return ({ schema, url, plans }) =>
    (options) =>
      Effect.sync((): ReconnectingConnection => {
        let held: SharedConnection | undefined
        const acquire = Effect.gen(function* () {
          const shared = yield* connectionFor({ ...options, plans: plans() }, yield* url)
          yield* shared.semaphore.take(1)
          held = shared
          return shared
        })
        const connection = Effect.suspend(() => (held === undefined ? acquire : Effect.succeed(held))).pipe(
          Effect.flatMap(({ link }) => link.connection),
          Effect.map((one) => inSchemaOf(one, schema))
        )
        const release = Effect.suspend(() => {
          const { semaphore } = held ?? {}
          held = undefined
          return semaphore === undefined ? Effect.void : Effect.asVoid(semaphore.release(1))
        })
        const drop = Effect.suspend(() => held?.link.drop ?? Effect.void)
        return {
          connection,
          drop,
          release,
          undo: (failure) => Effect.suspend(() => held?.link.undo(failure) ?? Effect.void)
        }
      })
})
