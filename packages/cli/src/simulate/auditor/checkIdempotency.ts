import { type Operation, operationsOf, REMEMBERED } from "./Operations.js"
import { check, codeOf, dataOf, detailOf, isGood, isReplay, ms, shown } from "./queries.js"
import type { RecordedRequest } from "./Trace.js"

const firstStatus = { create: 201, stamps: 200, redeem: 200 } as const

const formWrong = (exchange: RecordedRequest, kind: Operation["kind"]): string | null => {
  const { answer } = exchange
  if (answer === null || !isGood(exchange)) return null
  const replayed = isReplay(exchange)
  if (!replayed && answer.body.meta?.replayed !== false) return "the answer has no meta.replayed"
  if (replayed !== (answer.headers["idempotent-replayed"] === "true"))
    return "Idempotent-Replayed disagrees with meta.replayed"
  const status = replayed ? 200 : firstStatus[kind]
  return answer.status === status ? null : `answered ${answer.status}, and not ${status}`
}

/** The responses that are no repetitions, so the operation was done then. */
const doneAt = (operation: Operation): ReadonlyArray<RecordedRequest> =>
  operation.exchanges.filter((one) => isGood(one) && !isReplay(one))

const repeatsWrong = (operation: Operation): string | null => {
  const done = doneAt(operation)
  for (const [i, again] of done.entries()) {
    const before = done[i - 1]
    if (before !== undefined && again.now - before.now < REMEMBERED) return "it was done twice under one key"
  }
  for (const exchange of operation.exchanges) {
    if (!isGood(exchange) || !isReplay(exchange)) continue
    const first = done.findLast((one) => one.seq < exchange.seq || one.now === exchange.now)
    const same = first === undefined || JSON.stringify(dataOf(first)) === JSON.stringify(dataOf(exchange))
    if (!same) return "a repetition was answered differently"
  }
  return operation.results.length > 1 && done.length <= 1 && !isLong(operation)
    ? "repetitions were answered differently"
    : null
}

const isLong = ({ exchanges }: Operation): boolean => exchanges.at(-1)!.now - exchanges[0]!.now >= REMEMBERED

/** A key is refused as used only where another request succeeded under it. */
const reuseWrong = (operation: Operation): RecordedRequest | null => {
  for (const exchange of operation.exchanges) {
    if (codeOf(exchange) !== "CONFLICT" || detailOf(exchange, "reason") !== "IDEMPOTENCY_KEY_REUSED") continue
    const text = JSON.stringify([exchange.path, exchange.body])
    const other = operation.exchanges.some(
      (one) =>
        (isGood(one) || one.answer === null) && one.now <= exchange.now && JSON.stringify([one.path, one.body]) !== text
    )
    if (!other) return exchange
  }
  return null
}

/** Under one Idempotency-Key a thing is done once, and a repetition gets the first response unchanged. */
export const checkIdempotency = check("idempotency", "Specification, Endpoints; Idempotency", function* (trace) {
  const makers = new Map<string, Operation>()
  for (const operation of operationsOf(trace)) {
    for (const exchange of operation.exchanges) yield [formWrong(exchange, operation.kind), shown(exchange)]
    const reuse = reuseWrong(operation)
    yield [repeatsWrong(operation), operation.exchanges.map(shown)]
    if (reuse !== null) yield ["a key was refused as used that was not", shown(reuse)]
    if (operation.kind !== "create") continue
    for (const { data, exchange } of operation.results) {
      const { id, created_at } = data as { readonly id: string; readonly created_at: string }
      const other = makers.get(id)
      if (other !== undefined && other !== operation)
        yield [`ticket ${id} was answered under two keys`, shown(exchange)]
      if (!isReplay(exchange) && ms(created_at) !== exchange.now)
        yield [`ticket ${id} was created at another time`, shown(exchange)]
      makers.set(id, operation)
    }
  }
})
