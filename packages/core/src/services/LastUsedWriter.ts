import { Clock, type Context, Effect, FiberSet, type Scope } from "effect"
import type { KeyId } from "../domain/Identifier.js"
import type { Instant } from "../domain/Instant.js"
import { ServiceLimits } from "../domain/Limits.js"
import type { Directory } from "../ports/Directory.js"

const { key_use_every_ms, key_use_batch_ms, api_key_cache_size } = ServiceLimits

/**
 * Notes that keys were used: at most once a minute for each, several in one write, and never in the path of the request
 * that used them. A write that fails is left to the key's next use.
 */
export const lastUsedWriter = (
  directory: Context.Tag.Service<Directory>
): Effect.Effect<(id: KeyId, now: Instant) => void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = yield* FiberSet.makeRuntime<never>()
    const noted = new Map<KeyId, Instant>()
    let waiting = new Map<KeyId, Instant>()

    const write = Effect.suspend(() => {
      const uses = waiting
      waiting = new Map()
      return Effect.catchAll(directory.keysUsed(uses), (unavailable) => {
        for (const id of uses.keys()) noted.delete(id)
        return Effect.logDebug("The last use of keys could not be written down", unavailable)
      })
    })

    const writeLater = Effect.zipRight(Effect.withClock(Effect.sleep(key_use_batch_ms), Clock.make()), write)
    yield* Effect.addFinalizer(() => (waiting.size > 0 ? write : Effect.void))

    return (id, now) => {
      const before = noted.get(id)
      if (before !== undefined && now >= before && now < before + key_use_every_ms) return
      if (noted.size >= api_key_cache_size) noted.clear()
      noted.set(id, now)
      waiting.set(id, now)
      // The first of those that wait writes them all down.
      if (waiting.size === 1) fork(writeLater)
    }
  })
