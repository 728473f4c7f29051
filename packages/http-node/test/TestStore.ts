import type { Entropy, StorePorts } from "@workshop/core"
import * as MemoryStore from "@workshop/store-memory"
import { PgStore } from "@workshop/store-pg"
import { Effect, Layer } from "effect"
import { inject } from "vitest"
import { testDatabase } from "../../store-pg/test/cluster/TestDatabase.js"

declare module "vitest" {
  interface ProvidedContext {
    /** On which store the rules are to be shown; see the projects of vitest.config.ts. */
    readonly store: "memory" | "postgres"
  }
}

const postgres = Layer.unwrapScoped(Effect.map(testDatabase, ({ url }) => Layer.orDie(PgStore.layer({ url }))))

/** The store of this run's project, empty, on which the whole service is tested. */
export const testStore: Layer.Layer<StorePorts, never, Entropy> = Layer.suspend(() =>
  inject("store") === "postgres" ? postgres : MemoryStore.layer
)
