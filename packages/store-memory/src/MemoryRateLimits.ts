import type { Instant } from "@workshop/core/domain/Instant"
import { MINUTE_MS } from "@workshop/core/domain/Instant"
import { current, LimitReached, type LimitWindow, usage, used } from "@workshop/core/domain/LimitWindow"
import type { RateLimits, Take } from "@workshop/core/ports/RateLimits"
import { type Context, Effect } from "effect"

const place = ({ policy, subject }: Take): string => `${policy} ${subject}`

/** Counts for one process. Windows that have ended are cleared away once a minute. */
export const memoryRateLimits = (): Context.Tag.Service<RateLimits> => {
  const windows = new Map<string, LimitWindow>()
  let swept_at = 0

  const sweep = (now: Instant) => {
    if (now < swept_at + MINUTE_MS) return
    swept_at = now
    for (const [key, window] of windows) if (now >= window.resets_at) windows.delete(key)
  }
  const open = (take: Take, now: Instant) => current(windows.get(place(take)), take.policy, now, take.time_zone)

  return {
    take: (takes, now) =>
      Effect.suspend(() => {
        sweep(now)
        const found = takes.map((take) => open(take, now))
        const refusing = takes
          .map((take, i) => usage(found[i]!, take.policy))
          .filter(({ remaining }) => remaining === 0)
        if (refusing.length > 0) return Effect.fail(new LimitReached({ usages: refusing }))
        const usages = takes.map((take, i) => {
          const window = used(found[i]!, 1)
          windows.set(place(take), window)
          return usage(window, take.policy)
        })
        return Effect.succeed(usages)
      }),
    giveBack: (takes, taken) =>
      Effect.sync(() => {
        takes.forEach((take, i) => {
          const window = windows.get(place(take))
          if (window !== undefined && window.resets_at === taken[i]?.resets_at)
            windows.set(place(take), used(window, -1))
        })
      }),
    look: (take, now) => Effect.sync(() => usage(open(take, now), take.policy))
  }
}
