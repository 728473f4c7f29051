import * as MemoryStore from "@workshop/store-memory"
import { Effect, Layer, Logger, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { ShopPatch } from "../../src/decisions/shopSettings.js"
import { Entropy } from "../../src/ports/Entropy.js"
import { Directory } from "../../src/ports/StorePorts.js"
import * as Profanity from "../../src/services/Profanity.js"
import { ShopInput, Shops } from "../../src/services/Shops.js"
import * as Workshop from "../../src/services/Workshop.js"

const input = Schema.decodeSync(ShopInput)({ name: "Needle", currency: "TND", time_zone: "Africa/Tunis" })

const layer = Workshop.layer.pipe(
  Layer.provideMerge(MemoryStore.layer),
  Layer.provideMerge(Profanity.layer),
  Layer.provideMerge(Entropy.layerSeeded(7))
)
const runWithWorkshop = <A, E>(work: Effect.Effect<A, E, Layer.Layer.Success<typeof layer>>) =>
  Effect.runPromise(Effect.provide(work, layer))

describe("firstOrCreate, for a program with one shop", () => {
  it("firstOrCreate creates the shop once for all callers, and later returns it with its current settings", () =>
    runWithWorkshop(
      Effect.gen(function* () {
        const shops = yield* Effect.replicateEffect(Shops.firstOrCreate(input), 4, { concurrency: "unbounded" })
        expect(new Set(shops.map(({ id }) => id)).size).toBe(1)
        const other = Schema.decodeSync(ShopInput)({ name: "Other", currency: "EUR", time_zone: "Europe/Paris" })
        expect(yield* Shops.firstOrCreate(other)).toEqual(shops[0])
      })
    ))

  it("firstOrCreate warns of settings that differ from those of the existing shop, and leaves it unchanged", () => {
    const lines: Array<string> = []
    const logging = Logger.replace(
      Logger.defaultLogger,
      Logger.make(({ message, logLevel }) => void lines.push(`${logLevel.label} ${message}`))
    )
    return runWithWorkshop(
      Effect.gen(function* () {
        const created = yield* Shops.firstOrCreate(input)
        yield* Shops.firstOrCreate(input)
        yield* Shops.change(created.id, Schema.decodeSync(ShopPatch)({ languages: ["ar"] }))
        const other = { name: "Needle", currency: "EUR", time_zone: "Europe/Paris", languages: ["fr"] } as const
        const shop = yield* Shops.firstOrCreate(Schema.decodeSync(ShopInput)(other))
        expect(shop).toMatchObject({ id: created.id, currency: "TND", time_zone: "Africa/Tunis", languages: ["ar"] })
        expect(lines).toEqual([
          "WARN The first shop already exists with settings that differ from those given to firstOrCreate. The shop's settings were not changed. The settings that differ are currency, time_zone"
        ])
      }).pipe(Effect.provide(logging))
    )
  })

  it("firstOrCreate creates the shop if the process that was creating it crashed", () =>
    runWithWorkshop(
      Effect.gen(function* () {
        expect(yield* (yield* Directory).claimFirstShop).toBe(true)
        expect(yield* Shops.firstOrCreate(input)).toMatchObject({ name: "Needle" })
      })
    ))
})
