import { Clock, type Context, Effect } from "effect"
import type { ShopRecord } from "../domain/Shop.js"
import type { Directory } from "../ports/StorePorts.js"

/** Runs an effect in real time, because other processes do not have this process's clock. */
const inRealTime = Effect.withClock(Clock.make())

/** The interval of polls, which is short because a process that claimed the first shop creates it at once. */
const LOOK_MS = 20
const LOOKS = 50

/** Returns the first shop, or creates it with `create`. Of several processes that start at once, one creates it. */
export const firstShopOrCreate = <E>(
  { listShops, claimFirstShop }: Context.Tag.Service<Directory>,
  create: Effect.Effect<ShopRecord, E>
) =>
  Effect.gen(function* () {
    const findFirst = Effect.map(listShops(null, 1), ([shop]) => shop)
    /** Waits for the shop of the process that claimed it; undefined if that process ended before it created the shop. */
    const awaitFirstShop = (remainingLooks: number): typeof findFirst =>
      Effect.flatMap(findFirst, (shop) =>
        shop !== undefined || remainingLooks === 0
          ? Effect.succeed(shop)
          : Effect.zipRight(inRealTime(Effect.sleep(LOOK_MS)), awaitFirstShop(remainingLooks - 1))
      )
    const existingShop = yield* findFirst
    if (existingShop !== undefined) return existingShop
    const created = (yield* claimFirstShop) ? undefined : yield* awaitFirstShop(LOOKS)
    return created ?? (yield* create)
  })
