import { type Deed, deedsOf, REMEMBERED } from "./Deeds.js"
import type { Evidence, Exchange, Violation } from "./Evidence.js"
import { codeOf, dataOf, detailOf, isGood, isReplay, ms, shown } from "./Reading.js"

const violation = (message: string, evidence: unknown): Violation => ({
  rule: "idempotency",
  section: "Specification, Endpoints; Idempotency",
  message,
  evidence
})

const firstStatus = { create: 201, stamps: 200, redeem: 200 } as const

const formWrong = (exchange: Exchange, kind: Deed["kind"]): string | null => {
  const { answer } = exchange
  if (answer === null || !isGood(exchange)) return null
  const replayed = isReplay(exchange)
  if (!replayed && answer.body.meta?.replayed !== false) return "the answer has no meta.replayed"
  if (replayed !== (answer.headers["idempotent-replayed"] === "true"))
    return "Idempotent-Replayed disagrees with meta.replayed"
  const status = replayed ? 200 : firstStatus[kind]
  return answer.status === status ? null : `answered ${answer.status}, and not ${status}`
}

/** When it was surely done: the first answers that were no repetitions. */
const doneAt = (deed: Deed): ReadonlyArray<Exchange> => deed.exchanges.filter((one) => isGood(one) && !isReplay(one))

const repeatsWrong = (deed: Deed): string | null => {
  const done = doneAt(deed)
  for (const [i, again] of done.entries()) {
    const before = done[i - 1]
    if (before !== undefined && again.now - before.now < REMEMBERED) return "it was done twice under one key"
  }
  for (const exchange of deed.exchanges) {
    if (!isGood(exchange) || !isReplay(exchange)) continue
    const first = done.findLast((one) => one.seq < exchange.seq || one.now === exchange.now)
    const same = first === undefined || JSON.stringify(dataOf(first)) === JSON.stringify(dataOf(exchange))
    if (!same) return "a repetition was answered differently"
  }
  return deed.results.length > 1 && done.length <= 1 && !isLong(deed) ? "repetitions were answered differently" : null
}

const isLong = ({ exchanges }: Deed): boolean => exchanges.at(-1)!.now - exchanges[0]!.now >= REMEMBERED

/** A key is refused as used only where another request succeeded under it. */
const reuseWrong = (deed: Deed): Exchange | null => {
  for (const exchange of deed.exchanges) {
    if (codeOf(exchange) !== "CONFLICT" || detailOf(exchange, "reason") !== "IDEMPOTENCY_KEY_REUSED") continue
    const text = JSON.stringify([exchange.path, exchange.body])
    const other = deed.exchanges.some(
      (one) =>
        (isGood(one) || one.answer === null) && one.now <= exchange.now && JSON.stringify([one.path, one.body]) !== text
    )
    if (!other) return exchange
  }
  return null
}

/** Under one Idempotency-Key a thing is done once, and a repetition gets the first answer as it was. */
export const checkIdempotency = (evidence: Evidence): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const makers = new Map<string, Deed>()
  for (const deed of deedsOf(evidence)) {
    for (const exchange of deed.exchanges) {
      const form = formWrong(exchange, deed.kind)
      if (form !== null) found.push(violation(form, shown(exchange)))
    }
    const repeats = repeatsWrong(deed)
    if (repeats !== null) found.push(violation(repeats, deed.exchanges.map(shown)))
    const reuse = reuseWrong(deed)
    if (reuse !== null) found.push(violation("a key was refused as used that was not", shown(reuse)))
    if (deed.kind !== "create") continue
    for (const { data, exchange } of deed.results) {
      const { id, created_at } = data as { readonly id: string; readonly created_at: string }
      const other = makers.get(id)
      if (other !== undefined && other !== deed)
        found.push(violation(`ticket ${id} was answered under two keys`, shown(exchange)))
      if (!isReplay(exchange) && ms(created_at) !== exchange.now)
        found.push(violation(`ticket ${id} was created at another time`, shown(exchange)))
      makers.set(id, deed)
    }
  }
  return found
}
