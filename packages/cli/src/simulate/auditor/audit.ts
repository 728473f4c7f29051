import { checkDeliveries } from "./checkDeliveries.js"
import { checkDoors } from "./checkDoors.js"
import { checkEnvelopes } from "./checkEnvelopes.js"
import { checkEvents } from "./checkEvents.js"
import { checkHistories } from "./checkHistories.js"
import { checkIdempotency } from "./checkIdempotency.js"
import { checkLimits } from "./checkLimits.js"
import { checkLoyalty } from "./checkLoyalty.js"
import { checkNumbers } from "./checkNumbers.js"
import { checkPrivacy } from "./checkPrivacy.js"
import { checkRefusals } from "./checkRefusals.js"
import { checkSignatures } from "./checkSignatures.js"
import { checkSync } from "./checkSync.js"
import { checkWebhooks } from "./checkWebhooks.js"
import type { Trace, Violation } from "./Trace.js"
import { withoutRedials } from "./withoutRedials.js"

/** Every invariant, by the name under which its violations are reported. */
export const checks = {
  envelope: checkEnvelopes,
  doors: checkDoors,
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
 * Holds what was seen of a service against the specification. It shares no code with the service: it knows the rules a
 * second time, in its own words, and only what came over HTTP.
 */
export const audit = (trace: Trace): ReadonlyArray<Violation> => {
  const seen = withoutRedials(trace)
  return Object.values(checks).flatMap((check) => check(seen))
}
