import { Entropy } from "@workshop/core"
import { PgStore } from "@workshop/store-pg"
import { checkSchema } from "@workshop/store-pg/migrate"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { testDatabase } from "../cluster/TestDatabase.js"
import { runTest } from "../nodes/Node.js"

/** The messages with which a store and the schema check refuse a URL. */
const refusals = async (url: string) => {
  const store = Effect.scoped(Layer.build(Layer.provide(PgStore.layer({ url }), Entropy.layer)))
  const refused = [await Effect.runPromise(Effect.flip(checkSchema(url))), await Effect.runPromise(Effect.flip(store))]
  return refused.map(({ message }) => message)
}

const SENTENCE =
  "The database address does not have the form postgres://user:password@host:5432/name. In a password, write # as %23 and / as %2F. Check the store's url."

describe("the url of a database", () => {
  it.each(["base", "localhost:5432/x", "mysql://me:s3cret@db/x", "postgres://me:s3#cret@db/x"])(
    "the url %j is refused before any host is looked up, with a message that repeats no part of it",
    async (url) => expect(await refusals(url)).toEqual([SENTENCE, SENTENCE])
  )

  it.each(["", undefined])("the url %j is refused as missing", async (url) => {
    const missing =
      "The database address is missing, perhaps because its environment variable is not set. An address has the form postgres://user:password@host:5432/name"
    for (const message of await refusals(url as string)) expect(message).toContain(missing)
  })

  it.each(["postgresql://me@127.0.0.1:1/x", "postgres:///x?host=/nowhere", "postgres://me@/x?host=/nowhere"])(
    "the url %s is valid",
    async (url) =>
      expect(await Effect.runPromise(Effect.flip(checkSchema(url)))).toMatchObject({ reason: "unreachable" })
  )

  it("a missing database and a missing role on a reachable server are refused, each with its own reason and remedy", () =>
    runTest(
      Effect.gen(function* () {
        const { url } = yield* testDatabase
        const named = (change: (address: URL) => void) => {
          const address = new URL(url)
          change(address)
          return Effect.flip(checkSchema(address.href))
        }
        const nowhere = yield* named((address) => {
          address.pathname = "/no_such_database"
        })
        expect(nowhere).toMatchObject({
          reason: "no_database",
          message: expect.stringMatching(
            /^The database does not exist \(.*\)\. Create the database, or correct its name/
          )
        })
        const nobody = yield* named((address) => {
          address.username = "no_such_role"
        })
        expect(nobody).toMatchObject({
          reason: "no_entry",
          message: expect.stringMatching(/^The database refused the user \(.*\)\. Check the user and the password/)
        })
      })
    ))
})
