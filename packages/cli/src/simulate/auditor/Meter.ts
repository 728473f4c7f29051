/** One use of a limit, or a refusal by it, at an instant. */
export interface Use {
  readonly now: number
  /** `given_back` was taken and returned; `maybe` was cut off, and nobody knows. */
  readonly what: "counted" | "given_back" | "maybe" | "refused"
  readonly count: number
  readonly exchange: unknown
}

/** What a limit is: how much within how long, or within one of the days that `dayOf` tells apart. */
export interface Bound {
  readonly policy: string
  readonly limit: number
  readonly window: number | ((now: number) => string)
}

/** Something that the uses of a limit contradict. */
export interface Overdrawn {
  readonly message: string
  readonly evidence: unknown
}

interface Window {
  readonly since: number
  readonly ends: (now: number) => boolean
  sure: number
  maybe: number
}

const atInstants = (uses: ReadonlyArray<Use>): ReadonlyArray<ReadonlyArray<Use>> => {
  const groups: Array<Array<Use>> = []
  for (const use of uses) {
    const last = groups.at(-1)
    if (last !== undefined && last[0]!.now === use.now) last.push(use)
    else groups.push([use])
  }
  return groups
}

const opened = ({ window }: Bound, now: number): Window => {
  const ends =
    typeof window === "number" ? (at: number) => at >= now + window : (at: number) => window(at) !== window(now)
  return { since: now, ends, sure: 0, maybe: 0 }
}

const judged = ({ policy, limit }: Bound, open: Window | null, uses: ReadonlyArray<Use>): ReadonlyArray<Overdrawn> => {
  const [sure, maybe] = [open?.sure ?? 0, open?.maybe ?? 0]
  const found: Array<Overdrawn> = []
  if (sure > limit)
    found.push({
      message: `${policy}: ${sure} within one window, where ${limit} are allowed`,
      evidence: uses.at(-1)?.exchange
    })
  for (const { what, count, exchange } of uses)
    if (what === "refused" && sure + maybe + count <= limit)
      found.push({ message: `${policy}: refused after ${sure} of ${limit}`, evidence: exchange })
  return found
}

/**
 * Counts a limit again, by its own rule: a window opens at the first use. Where a request that was cut off may have opened
 * one, nothing is said until no window can be open any more.
 */
export const recount = (bound: Bound, uses: ReadonlyArray<Use>): ReadonlyArray<Overdrawn> => {
  const found: Array<Overdrawn> = []
  let open: Window | null = null
  let blurred: ((now: number) => boolean) | null = null
  for (const group of atInstants(uses)) {
    const { now } = group[0]!
    if (open?.ends(now)) open = null
    if (blurred?.(now)) blurred = null
    let transient = 0
    for (const { what, count } of group) {
      if (what === "refused") continue
      if (open === null && what === "maybe") blurred = opened(bound, now).ends
      // While it is unknown when the window opened, each use may have opened the next.
      if (blurred !== null) blurred = opened(bound, now).ends
      open ??= opened(bound, now)
      if (what === "counted") open.sure += count
      else if (what === "maybe") open.maybe += count
      else transient += count
    }
    if (open !== null) open.maybe += transient
    if (blurred === null) found.push(...judged(bound, open, group))
    if (open !== null) open.maybe -= transient
  }
  return found
}
