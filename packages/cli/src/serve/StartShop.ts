import { Directory } from "@workshop/core/store"
import { Effect, Ref } from "effect"
import { demoSteps, openDemoShop } from "./DemoShop.js"
import {
  claimFirstShop,
  GivenKey,
  hasShops,
  linesIfAnotherProcessOpens,
  linesIfSandboxData,
  linesIfShopsExist,
  nextSteps,
  openFirstShop,
  shopOfKey
} from "./FirstShop.js"
import type { ServeFlags } from "./ServeOptions.js"

/**
 * The key that the start printed or got. A reset of the sandbox creates the same key again, so that the configuration
 * of a till stays valid.
 */
export type StartKey = Ref.Ref<string | null>

/** Opens the shop of a start and creates its key. */
const openStartShop = (isDemo: boolean) =>
  isDemo ? Effect.map(openDemoShop, ({ key }) => key) : Effect.map(openFirstShop, ({ key }) => key)

/** Opens the shop of a start again after a reset has emptied the store. */
export const reopenStartShop = ({ demo }: ServeFlags, startKey: StartKey) =>
  Effect.gen(function* () {
    yield* Ref.set(startKey, yield* Effect.provideService(openStartShop(demo), GivenKey, yield* startKey))
  }).pipe(
    Effect.catchAll((failure) => (failure._tag === "StoreUnavailable" ? Effect.fail(failure) : Effect.die(failure)))
  )

/**
 * The lines that a start prints about its shop, and the shop's key. Without `--sandbox`, a shop is opened only if there
 * is none.
 */
export const startShop = Effect.fnUntraced(function* (flags: ServeFlags, base: string) {
  const { demoKey } = flags
  const withLines = (lines: ReadonlyArray<string>, key = demoKey) => ({ lines, key })
  if (!flags.sandbox && (yield* Effect.flatMap(Directory, ({ isSandboxMade }) => isSandboxMade)))
    return withLines(linesIfSandboxData)
  const knownShop = demoKey === null ? null : yield* shopOfKey(demoKey)
  if (demoKey !== null && knownShop !== null) {
    const statement = `The shop ${knownShop.name} exists from an earlier start. Its key is the one that --demo-key gives:`
    return withLines(nextSteps(base, statement, demoKey))
  }
  if (flags.demo) {
    const { key, ...demo } = yield* openDemoShop
    const steps = key === null ? [demo.opening] : [...nextSteps(base, demo.opening, key), ...demoSteps(base, key, demo)]
    return withLines(steps, key)
  }
  if (demoKey === null) {
    if (yield* hasShops) return withLines(yield* linesIfShopsExist)
    if (!(yield* claimFirstShop)) return withLines(yield* linesIfAnotherProcessOpens)
  }
  const { opening, key } = yield* openFirstShop
  return withLines(nextSteps(base, opening, key), key)
})
