import type { Entropy, StorePorts } from "@workshop/core"
import * as MemoryStore from "@workshop/store-memory"
import { Layer } from "effect"
import { inject } from "vitest"
import { postgresStore } from "../../store-pg/test/cluster/TestStore.js"

declare module "vitest" {
  interface ProvidedContext {
    /** The store on which the tests run; see the projects of vitest.config.ts. */
    readonly store: "memory" | "postgres"
  }
}

/** An empty store of the kind that the Vitest project selects. */
export const testStore: Layer.Layer<StorePorts, never, Entropy> = Layer.suspend(() =>
  inject("store") === "postgres" ? postgresStore : MemoryStore.layer
)
