import { Entropy } from "@workshop/core"
import { Directory } from "@workshop/core/store"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { MigratedStore, PgStore } from "../src/index.js"
import { testDatabase } from "./cluster/TestDatabase.js"
import { testing } from "./nodes/Node.js"

it("layerConfig reads the store's options from configuration, with its secrets redacted", { timeout: 60_000 }, () =>
  testing(
    Effect.gen(function* () {
      const { url } = yield* testDatabase
      const config = {
        url: Config.redacted("DATABASE_URL"),
        schema: Config.withDefault(Config.string("SCHEMA"), "workshop")
      }
      for (const store of [PgStore.layerConfig(config), MigratedStore.layerConfig(config)]) {
        const shops = Effect.flatMap(Directory, ({ listShops }) => listShops(null, 1)).pipe(
          Effect.provide(Layer.provide(store, Entropy.layer)),
          Effect.scoped
        )
        const given = (entries: Record<string, string>) =>
          Effect.withConfigProvider(shops, ConfigProvider.fromMap(new Map(Object.entries(entries))))
        expect(yield* given({ DATABASE_URL: url })).toEqual([])
        expect(String(yield* Effect.flip(given({})))).toContain("DATABASE_URL")
      }
    })
  )
)
