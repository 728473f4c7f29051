import { Effect, type Scope } from "effect"
import { inject } from "vitest"
import type {} from "./globalSetup.js"

const asked = (method: "POST" | "DELETE", body?: string) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${inject("clusterDoor")}`, { method, body: body ?? null })
    const words = await response.text()
    if (!response.ok) throw new Error(`No test database: ${words}`)
    return words
  })

const made = (original?: string): Effect.Effect<{ readonly url: string }, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(asked("POST", original), (url) => ({ url })),
    ({ url }) => asked("DELETE", url)
  )

/** A database of one's own, migrated and empty, gone when the scope closes. The first of a run waits for its server. */
export const testDatabase = made()

/** A copy of a test database that has no connections any more. Copying takes less time than filling another one. */
export const copyOf = (original: { readonly url: string }) => made(original.url)
