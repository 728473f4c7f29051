/** The number of uses in the current window, and the end of the window. */
export interface Window {
  used: number
  resets_at: number
}

/** The values of the three RateLimit headers. */
export interface LimitStatus {
  readonly limit: number
  readonly remaining: number
  readonly resets_at: number
}

const MINUTE_MS = 60_000

/** A limit with a window of a minute for each key. */
export class MinuteLimit {
  readonly #windows = new Map<string, Window>()
  readonly #limit: number
  readonly name: string

  constructor(name: string, limit: number) {
    this.name = name
    this.#limit = limit
    setInterval(() => this.#sweep(Date.now()), MINUTE_MS).unref()
  }

  /** The current window of a key. */
  at(key: string, now: number): Window {
    const known = this.#windows.get(key)
    if (known !== undefined && now < known.resets_at) return known
    const opened = { used: 0, resets_at: now + MINUTE_MS }
    this.#windows.set(key, opened)
    return opened
  }

  isUsedUp(window: Window): boolean {
    return window.used >= this.#limit
  }

  statusOf({ used, resets_at }: Window): LimitStatus {
    return { limit: this.#limit, remaining: Math.max(0, this.#limit - used), resets_at }
  }

  #sweep(now: number): void {
    for (const [key, window] of this.#windows) if (now >= window.resets_at) this.#windows.delete(key)
  }
}

/** The status with the fewest remaining uses; if both have equally many, the status that resets later. */
export const scarcer = (a: LimitStatus, b: LimitStatus): LimitStatus =>
  b.remaining < a.remaining || (b.remaining === a.remaining && b.resets_at > a.resets_at) ? b : a
