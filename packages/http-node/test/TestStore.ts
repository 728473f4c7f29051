import type { Entropy, StorePorts } from "@workshop/core"
import * as MemoryStore from "@workshop/store-memory"
import { Layer } from "effect"
import { inject } from "vitest"
import { postgresStore } from "../../store-pg/test/cluster/TestStore.js"

declare module "vitest" {
  interface ProvidedContext {
    /** On which store the rules are to be shown; see the projects of vitest.config.ts. */
    readonly store: "memory" | "postgres"
  }
}

/** The store of this run's project, empty, on which the whole service is tested. */
export const testStore: Layer.Layer<StorePorts, never, Entropy> = Layer.suspend(() =>
  inject("store") === "postgres" ? postgresStore : MemoryStore.layer
)
