import { Entropy } from "@workshop/core"
import { Effect, Layer, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { layer as embedded } from "../src/embedded/EmbeddedPostgres.js"
import { layer as migrated } from "../src/MigratedStore.js"
import { layer } from "../src/PgStore.js"

// No server listens on port 1, which shows that the store refuses a wrong option before it connects.
const url = "postgres://localhost:1/nowhere"

describe("invalid options of the store", () => {
  it.each<readonly [unknown, string | RegExp]>([
    [undefined, "The store requires an object of options"],
    [{ url, schem: "tickets" }, "The store has no option schem. Did you mean schema?"],
    [
      { url, database: "tickets" },
      /^The store has no option database\. The options are url, schema, lanes, readConnections, pool, cells, leaseClock, secretsKeys(, createSchema)?\.$/
    ],
    [
      { url, pool: {} },
      "The option pool of the store must be a Pool of the package pg that connects to the same database as the url"
    ],
    [{ url, schema: 5 }, "The option schema of the store must be the name of a schema, such as workshop"],
    [{ url: "" }, /^The database address is missing, .*. Check the store's url\.$/],
    [{ url: "localhost" }, /^The database address does not have the form .*. Check the store's url\.$/],
    [
      { url, schema: "pg_tickets" },
      /^"pg_tickets" is not a valid name for a schema\. .*\. Check the store's schema\.$/
    ],
    [{ url, lanes: 0 }, "The option lanes of the store must be a whole number of at least 1"],
    [{ url, readConnections: "8" }, "The option readConnections of the store must be a whole number of at least 1"],
    [{ url, cells: [{}] }, "The option cells of the store must be a list of cells, each of which has a name"],
    [
      { url, secretsKeys: "abc" },
      "The option secretsKeys of the store must be a list of keys, each of which is a string"
    ]
  ])(
    "the store refuses the options %j with a one-sentence message, before it connects or migrates",
    (options, sentence) =>
      Effect.gen(function* () {
        for (const store of [layer, migrated]) {
          const built = Layer.build(Layer.provide(store(options as never), Entropy.layer))
          expect(yield* Effect.flip(built as Effect.Effect<unknown, Error, Scope.Scope>)).toMatchObject({
            _tag: "OptionRefused",
            message: typeof sentence === "string" ? sentence : expect.stringMatching(sentence)
          })
        }
      }).pipe(Effect.scoped, Effect.runPromise)
  )
})

it("only the store that migrates has the option createSchema, which must be true or false", () =>
  Effect.gen(function* () {
    const refusalOf = <A, E>(store: Layer.Layer<A, E, Entropy>) =>
      Effect.flip(Layer.build(Layer.provide(store, Entropy.layer)))
    expect(yield* refusalOf(layer({ url, createSchema: false } as never))).toMatchObject({
      message: expect.stringMatching(/^The store has no option createSchema/)
    })
    expect(yield* refusalOf(migrated({ url, createSchema: "no" } as never))).toMatchObject({
      message: "The option createSchema of the store must be true or false"
    })
  }).pipe(Effect.scoped, Effect.runPromise))

it("the embedded store refuses a misspelt option before it creates a folder", () =>
  Effect.gen(function* () {
    const built = Layer.build(Layer.provide(embedded({ datadir: "/nowhere/at/all" } as never), Entropy.layer))
    expect(yield* Effect.flip(built as Effect.Effect<unknown, Error, Scope.Scope>)).toMatchObject({
      _tag: "OptionRefused",
      message: "The embedded store has no option datadir. Did you mean dataDir?"
    })
  }).pipe(Effect.scoped, Effect.runPromise))

it("the error for an unreachable database differs from the error for an invalid option, so that a program can retry (docs/embed.md)", () =>
  Effect.gen(function* () {
    const built = Layer.build(Layer.provide(migrated({ url }), Entropy.layer))
    expect(yield* Effect.flip(built as Effect.Effect<unknown, Error, Scope.Scope>)).toMatchObject({
      _tag: "DatabaseFailed",
      reason: "unreachable"
    })
  }).pipe(Effect.scoped, Effect.runPromise))
