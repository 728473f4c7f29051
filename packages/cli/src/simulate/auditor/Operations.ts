import { DAY } from "../../testkit/Time.js"
import { actOf, dataOf, isGood } from "./queries.js"
import type { RecordedRequest, Trace } from "./Trace.js"

/** How long an Idempotency-Key is remembered (Specification, Idempotency). */
export const REMEMBERED = 30 * DAY

/** All requests that a caller made under one Idempotency-Key for one operation (Specification, Idempotency). */
export interface Operation {
  readonly kind: "create" | "stamps" | "redeem"
  readonly shop: string
  readonly key: string
  readonly once: string
  readonly exchanges: ReadonlyArray<RecordedRequest>
  /** The distinct results that were answered: one for each time it was done. */
  readonly results: ReadonlyArray<{ readonly data: unknown; readonly text: string; readonly exchange: RecordedRequest }>
  /** An answer was lost and none came since: nobody knows whether it was done once more. */
  readonly isUnknown: boolean
}

const resultsOf = (exchanges: ReadonlyArray<RecordedRequest>): Operation["results"] => {
  const found = new Map<string, Operation["results"][number]>()
  for (const exchange of exchanges) {
    if (!isGood(exchange)) continue
    const data = dataOf<unknown>(exchange)
    const text = JSON.stringify(data)
    const known = found.get(text)
    // The first answer is the one that is no repetition, where it was not lost.
    if (
      known === undefined ||
      (known.exchange.answer?.body.meta?.replayed === true && exchange.answer?.body.meta?.replayed === false)
    )
      found.set(text, { data, text, exchange })
  }
  return [...found.values()]
}

/** The operations under Idempotency-Keys over the API. */
export const operationsOf = ({ exchanges }: Trace): ReadonlyArray<Operation> => {
  const groups = new Map<string, Array<RecordedRequest>>()
  for (const exchange of exchanges) {
    const kind = actOf(exchange)?.kind
    const isOnce = kind === "create" || kind === "stamps" || kind === "redeem"
    if (!isOnce || exchange.key === null || exchange.once === null) continue
    const name = JSON.stringify([exchange.key, kind, exchange.once])
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [exchange])
    else group.push(exchange)
  }
  return [...groups.values()].map((group) => {
    const first = group[0]!
    const lost = group.findLastIndex(({ answer }) => answer === null)
    return {
      kind: actOf(first)!.kind as Operation["kind"],
      shop: first.shop ?? "",
      key: first.key ?? "",
      once: first.once ?? "",
      exchanges: group,
      results: resultsOf(group),
      isUnknown: lost !== -1 && !group.some((one, i) => i > lost && isGood(one))
    }
  })
}
