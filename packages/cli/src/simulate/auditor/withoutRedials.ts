import type { Event } from "../../testkit/Shapes.js"
import type { ReceivedDelivery, Trace } from "./Trace.js"

const nameOf = ({ shop, signature, body }: ReceivedDelivery): string =>
  `${shop} ${(JSON.parse(body) as Event).id} ${signature}`

/**
 * The trace with one reception an attempt. A receiver that hangs up on a connection that was kept from an earlier request
 * looks to the sender like one that closed it while it was idle, so the same attempt dials anew and sends the same bytes under
 * the same signature. The first of the two counts for nothing.
 */
export const withoutRedials = (trace: Trace): Trace => {
  const redialled = new Set<number>()
  const cut = new Map<string, ReceivedDelivery>()
  for (const reception of trace.receptions) {
    const name = nameOf(reception)
    const before = cut.get(name)
    if (before !== undefined && before.body === reception.body) redialled.add(before.seq)
    cut.delete(name)
    if (reception.status === null && reception.isKept === true) cut.set(name, reception)
  }
  return redialled.size === 0
    ? trace
    : { ...trace, receptions: trace.receptions.filter(({ seq }) => !redialled.has(seq)) }
}
