import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import {
  BEGIN,
  COMMIT,
  type Connection,
  type ConnectionOptions,
  connect,
  ROLLBACK
} from "../src/connection/Connection.js"
import type { Statement } from "../src/connection/Statement.js"
import { testDatabase } from "./cluster/TestDatabase.js"

const LONG = 60_000

const on = <A>(act: (connection: Connection) => Effect.Effect<A, unknown>, options: Partial<ConnectionOptions> = {}) =>
  Effect.gen(function* () {
    const { url } = yield* testDatabase
    return yield* act(yield* connect({ url, name: "pipeline", lock_timeout_ms: 1_000, ...options }))
  }).pipe(Effect.scoped, Effect.runPromise)

const named = (name: string, text: string, ...values: ReadonlyArray<unknown>): Statement => ({ name, text, values })
const put = (n: unknown) => named("put", "insert into numbers values ($1)", n)
const numbers = named("numbers", "select n from numbers order by n")
const table = named("", "create temporary table numbers (n integer primary key)")

const preparedNames = (connection: Connection) =>
  Effect.map(connection.send([numbers]), ([result]) => result!.rows.map(({ n }) => n))

describe("statements that are sent together (Connection.send)", { timeout: LONG }, () => {
  it("the connection returns one result per statement in order, with or without rows, even when the statement is sent again", () =>
    on(({ send }) =>
      Effect.gen(function* () {
        yield* send([table])
        for (const n of [1, 2]) {
          const answers = yield* send([BEGIN, put(n), numbers, COMMIT])
          expect(answers.map(({ command }) => command)).toEqual(["BEGIN", "INSERT", "SELECT", "COMMIT"])
          expect(answers.map(({ rows }) => rows.length)).toEqual([0, 0, n, 0])
        }
      })
    ))

  it("outside of a transaction each statement is a transaction, so a failure rolls back only its own statement", () =>
    on((connection) =>
      Effect.gen(function* () {
        yield* connection.send([table])
        const failure = yield* Effect.flip(connection.send([put(1), put(2), put(2), put(3)]))
        expect(failure.code).toBe("23505")
        expect(yield* preparedNames(connection)).toEqual([1, 2, 3])
      })
    ))

  it("after a failure in a transaction the server refuses the next statements, and COMMIT rolls back", () =>
    on((connection) =>
      Effect.gen(function* () {
        yield* connection.send([table])
        const failure = yield* Effect.flip(connection.send([BEGIN, put(1), put(1), put(2), COMMIT]))
        expect(failure.code).toBe("23505")
        expect(yield* preparedNames(connection)).toEqual([])
        yield* Effect.flip(connection.send([BEGIN, put(1), put(1)]))
        expect((yield* Effect.flip(connection.send([numbers]))).code).toBe("25P02")
        yield* connection.send([ROLLBACK])
        expect(yield* preparedNames(connection)).toEqual([])
      })
    ))

  it("statements can be sent again after another statement failed, whether or not the server had prepared them", () =>
    on((connection) =>
      Effect.gen(function* () {
        const wrong = named("wrong", "select from nothing_of_this_name")
        for (const round of [1, 2]) {
          const failure = yield* Effect.flip(connection.send([named("first", "select 1 as one"), wrong, numbers]))
          expect([round, failure.code]).toEqual([round, "42P01"])
        }
        yield* connection.send([table])
        expect(yield* preparedNames(connection)).toEqual([])
        const [one] = yield* connection.send([named("first", "select 1 as one")])
        expect(one!.rows).toEqual([{ one: 1 }])
      })
    ))

  it("a prepared statement that failed while it ran can be sent again", () =>
    on((connection) =>
      Effect.gen(function* () {
        const half = (n: number) => named("half", "select 1 / $1::integer as n", n)
        expect((yield* Effect.flip(connection.send([half(0)]))).code).toBe("22012")
        expect((yield* connection.send([half(1)]))[0]!.rows).toEqual([{ n: 1 }])
      })
    ))

  it("no statement runs if one of them has a value that cannot be encoded", () =>
    on((connection) =>
      Effect.gen(function* () {
        const circle: Record<string, unknown> = {}
        circle.self = circle
        const failure = yield* Effect.flip(connection.send([BEGIN, table, put(circle), COMMIT]))
        expect(failure.isLoss).toBe(true)
        yield* connection.broken
        expect(connection.isOpen()).toBe(false)
      })
    ))

  it("a result that exceeds the time limit closes the connection, because the next statement would receive that result", () =>
    on(
      (connection) =>
        Effect.gen(function* () {
          const failure = yield* Effect.flip(
            connection.send([
              named("", "select set_config('statement_timeout', '0', false)"),
              named("", "select pg_sleep(30)")
            ])
          )
          expect([failure.kind, failure.isLoss]).toEqual(["responseTimeout", true])
          yield* connection.broken
        }),
      { statement_timeout_ms: 100 }
    ))
})
