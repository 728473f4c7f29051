import { Effect, Exit, Scope } from "effect"
import { type Connection, type ConnectionOptions, connect, ROLLBACK } from "./Connection.js"
import type { PgFailure } from "./PgFailure.js"

/** One connection at a time, made when it is first needed and again after it broke. */
export interface ReconnectingConnection {
  /** The connection; fails where none can be made. For one fiber at a time. */
  readonly connection: Effect.Effect<Connection, PgFailure>
  /** Lets go of the connection; the next one is new. */
  readonly drop: Effect.Effect<void>
  /**
   * Ends the transaction after a failure. A connection that is gone is let go of, and so is one whose server said something
   * unforeseen, such as that it only reads since a failover.
   */
  readonly undo: (failure: PgFailure) => Effect.Effect<void>
}

/** Makes a link; what it has open is closed with the scope. */
export const reconnecting = (options: ConnectionOptions): Effect.Effect<ReconnectingConnection, never, Scope.Scope> =>
  Effect.gen(function* () {
    let open: { readonly connection: Connection; readonly scope: Scope.CloseableScope } | undefined

    const drop = Effect.suspend(() => {
      const { scope } = open ?? {}
      open = undefined
      return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
    })

    const opened = Effect.gen(function* () {
      yield* drop
      const scope = yield* Scope.make()
      const connection = yield* Effect.onError(Scope.extend(connect(options), scope), () =>
        Scope.close(scope, Exit.void)
      )
      open = { connection, scope }
      return connection
    })

    yield* Effect.addFinalizer(() => drop)
    const connection = Effect.suspend(() => (open?.connection.isOpen() ? Effect.succeed(open.connection) : opened))
    return {
      connection,
      drop,
      undo: (failure) =>
        failure.isLoss || failure.kind === "other"
          ? drop
          : Effect.flatMap(connection, ({ send }) => send([ROLLBACK])).pipe(Effect.catchAll(() => drop))
    }
  })
