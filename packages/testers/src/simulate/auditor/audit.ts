import type { EventJson } from "../../testkit/ResponseTypes.js"
import { checkLoyalty, checkPrivacy } from "./checkClients.js"
import { checkLimits } from "./checkLimits.js"
import { checkAccess, checkEnvelopes, checkIdempotency, checkRefusals, checkSync } from "./checkResponses.js"
import { checkEvents, checkHistories, checkNumbers } from "./checkTickets.js"
import { checkDeliveries, checkSignatures, checkWebhooks } from "./checkWebhooks.js"
import type { Trace, TracedDelivery, Violation } from "./Trace.js"

const receptionKeyOf = ({ shop, signature, body }: TracedDelivery): string =>
  `${shop} ${(JSON.parse(body) as EventJson).id} ${signature}`

/**
 * The trace with one delivery for each attempt. If a receiver closes a kept connection during a request, the sender
 * cannot distinguish this from a connection that was closed while idle. The attempt therefore connects again, and sends
 * the same bytes with the same signature. The first of the two deliveries does not count.
 */
const withoutRedials = (trace: Trace): Trace => {
  const redialledSeqs = new Set<number>()
  const cutReceptions = new Map<string, TracedDelivery>()
  for (const reception of trace.receptions) {
    const name = receptionKeyOf(reception)
    const previousCut = cutReceptions.get(name)
    if (previousCut !== undefined && previousCut.body === reception.body) redialledSeqs.add(previousCut.seq)
    cutReceptions.delete(name)
    if (reception.status === null && reception.isKept === true) cutReceptions.set(name, reception)
  }
  return redialledSeqs.size === 0
    ? trace
    : { ...trace, receptions: trace.receptions.filter(({ seq }) => !redialledSeqs.has(seq)) }
}

/** All checks by the name under which their violations are reported. */
export const checks = {
  envelope: checkEnvelopes,
  access: checkAccess,
  numbers: checkNumbers,
  histories: checkHistories,
  refusals: checkRefusals,
  events: checkEvents,
  loyalty: checkLoyalty,
  limits: checkLimits,
  idempotency: checkIdempotency,
  sync: checkSync,
  deliveries: checkDeliveries,
  webhooks: checkWebhooks,
  signatures: checkSignatures,
  privacy: checkPrivacy
} as const satisfies Record<string, (trace: Trace) => ReadonlyArray<Violation>>

/**
 * Checks a trace against the specification. The auditor shares no code with the service: it implements the rules a
 * second time, and sees only what was sent over HTTP.
 */
export const audit = (trace: Trace): ReadonlyArray<Violation> => {
  const visibleTrace = withoutRedials(trace)
  return Object.values(checks).flatMap((check) => check(visibleTrace))
}
