import { Entropy } from "@workshop/core"
import { Effect, Layer, type Scope } from "effect"
import { describe, expect, it } from "vitest"
import { layer as migrated } from "../src/MigratedStore.js"
import { layer } from "../src/PgStore.js"

// Nobody listens there: a wrong option is refused before anything is connected.
const url = "postgres://localhost:1/nowhere"

describe("wrong options of the store", () => {
  it.each([
    [undefined, "Give the store an object of options with a url."],
    [
      { url, schem: "tickets" },
      "The store has no option schem: its options are url, schema, lanes, readConnections, pool, cells, leaseClock, secretsKeys."
    ],
    [{ url, schema: 5 }, "The store's option schema must be the name of a schema, such as workshop."],
    [{ url, lanes: 0 }, "The store's option lanes must be a whole number of at least 1."],
    [{ url, readConnections: "8" }, "The store's option readConnections must be a whole number of at least 1."],
    [{ url, cells: [{}] }, "The store's option cells must be a list of cells, each with a name."],
    [{ url, secretsKeys: "abc" }, "The store's option secretsKeys must be a list of keys, each a text."]
  ])("refuses %j in one sentence, before it connects or migrates", (options, sentence) =>
    Effect.gen(function* () {
      for (const store of [layer, migrated]) {
        const built = Layer.build(Layer.provide(store(options as never), Entropy.layer))
        expect(yield* Effect.flip(built as Effect.Effect<unknown, Error, Scope.Scope>)).toMatchObject({
          _tag: "DatabaseFailed",
          reason: "bad_option",
          message: sentence
        })
      }
    }).pipe(Effect.scoped, Effect.runPromise)
  )
})
