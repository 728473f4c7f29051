import { Effect, type Scope } from "effect"
import { inject } from "vitest"
import type {} from "./globalSetup.js"

const requestDatabase = (method: "POST" | "DELETE", body?: string) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${inject("clusterDoor")}`, { method, body: body ?? null })
    const words = await response.text()
    if (!response.ok) throw new Error(`No test database: ${words}`)
    return words
  })

const createDatabase = (original?: string): Effect.Effect<{ readonly url: string }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(requestDatabase("POST", original), (url) => ({ url })),
    ({ url }) => requestDatabase("DELETE", url)
  )

/**
 * Creates a migrated, empty database and drops it when the scope closes. The first call of a run waits for the server's
 * start.
 */
export const testDatabase = createDatabase()

/** Copies a test database, which must have no connections. A copy takes less time than filling a new database. */
export const copyOf = (original: { readonly url: string }) => createDatabase(original.url)
