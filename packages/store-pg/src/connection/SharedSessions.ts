import { Effect, Scope } from "effect"
import { type Connection, type ConnectionOptions, makeReconnecting, type ReconnectingConnection } from "./Connection.js"
import type { Settings } from "./SessionClient.js"
import { textsIn } from "./Statement.js"

/*
 * Connections that several cells share. For any number of cells, a process has one connection for each purpose (lane 1,
 * lane 2, claims and so on) and address, which a cell uses for one transaction at a time. Every statement names its
 * cell's schema, and its prepared name begins with the schema's number.
 */

const numbers = new Map<string, number>()

/** A number for a schema, because Postgres truncates the names of prepared statements at 63 characters. */
const numberOf = (schema: string): number => {
  const number = numbers.get(schema) ?? numbers.size + 1
  numbers.set(schema, number)
  return number
}

/** A view of a connection whose statements use the tables of a schema. */
const inSchemaOf = (connection: Connection, schema: string): Connection => {
  const textOf = textsIn(schema)
  const prefix = `${numberOf(schema)} `
  return {
    ...connection,
    send: (statements) =>
      connection.send(
        statements.map((statement) => ({
          name: statement.name === "" ? "" : prefix + statement.name,
          text: textOf(statement),
          values: statement.values
        }))
      )
  }
}

interface SharedConnection {
  readonly link: ReconnectingConnection
  readonly semaphore: Effect.Semaphore
}

/** The schema of a cell, and its current address, which changes if Citus moves the cell to another node. */
export interface SessionTarget {
  readonly schema: string
  readonly url: Effect.Effect<string>
  /** The planner settings for the cell's node, because Citus refuses generic plans. */
  readonly plans: () => Settings
}

/** Shares connections among cells, one for each name and address, until the scope closes. */
export const sharedSessions: Effect.Effect<
  (location: SessionTarget) => (options: ConnectionOptions) => Effect.Effect<ReconnectingConnection>,
  never,
  Scope.Scope
> = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const connections = new Map<string, SharedConnection>()

  const connectionFor = (options: ConnectionOptions, url: string): Effect.Effect<SharedConnection> =>
    Effect.suspend(() => {
      const key = `${options.name} ${url}`
      const existingConnection = connections.get(key)
      if (existingConnection !== undefined) return Effect.succeed(existingConnection)
      const { schema: _, ...rest } = options
      // `makeReconnecting` is synchronous, so two cells cannot create the same shared connection.
      return Effect.map(Scope.extend(makeReconnecting({ ...rest, url }), scope), (link) => {
        const shared = { link, semaphore: Effect.unsafeMakeSemaphore(1) }
        connections.set(key, shared)
        return shared
      })
    })

  return ({ schema, url, plans }) =>
    (options) =>
      Effect.sync((): ReconnectingConnection => {
        let heldSession: SharedConnection | undefined
        const acquire = Effect.gen(function* () {
          const shared = yield* connectionFor({ ...options, plans: plans() }, yield* url)
          yield* shared.semaphore.take(1)
          heldSession = shared
          return shared
        })
        const connection = Effect.suspend(() =>
          heldSession === undefined ? acquire : Effect.succeed(heldSession)
        ).pipe(
          Effect.flatMap(({ link }) => link.connection),
          Effect.map((statement) => inSchemaOf(statement, schema))
        )
        const release = Effect.suspend(() => {
          const { semaphore } = heldSession ?? {}
          heldSession = undefined
          return semaphore === undefined ? Effect.void : Effect.asVoid(semaphore.release(1))
        })
        const drop = Effect.suspend(() => heldSession?.link.drop ?? Effect.void)
        return {
          connection,
          drop,
          release,
          undo: (failure) => Effect.suspend(() => heldSession?.link.undo(failure) ?? Effect.void)
        }
      })
})
