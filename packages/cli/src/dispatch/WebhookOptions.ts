import { productionAddresses } from "@workshop/core"
import { isNetwork, isOwnHeader, SIGNATURE_HEADER } from "@workshop/core/internal"
import { DAY_MS, ServiceLimits } from "@workshop/core/store"
import { Schema } from "effect"
import { repeatableFlag, valueFlag } from "../terminal/commands.js"
import { duration, textMatching, wholeNumber } from "../terminal/decoders.js"

/**
 * `--signature-header` of every command that delivers or receives; a name that HTTP itself uses is refused, because
 * that header would not be sent (Specification, Webhooks).
 */
export const signatureHeader = valueFlag(
  "--signature-header <name>",
  "The name of the HTTP header that contains a webhook's signature.",
  {
    decoder: textMatching(
      `must be a header name that HTTP does not use itself, such as ${SIGNATURE_HEADER}`,
      isOwnHeader
    ),
    fallback: SIGNATURE_HEADER
  }
)

/**
 * `--refuse-network` of every command that delivers: networks that webhooks may not reach, in addition to the
 * special-purpose addresses (Specification, Webhooks).
 */
export const refuseNetwork = repeatableFlag(
  "--refuse-network <cidr>",
  "A public network that webhooks must not reach, such as your own. For several networks, separate them by commas or repeat the flag.",
  { decoder: textMatching("must be a network, such as 203.0.113.0/24 or 2001:db8::/32", isNetwork) }
)

/**
 * `--webhook-port` of every command that sets an address or delivers to an address: all of them need the same ports
 * (Specification, Webhooks).
 */
export const webhookPort = repeatableFlag(
  "--webhook-port <number>",
  `A port that webhook addresses may have. For several ports, separate them by commas or repeat the flag. The default is ${productionAddresses.ports.join(", ")} only.`,
  { decoder: wholeNumber(1, 65_535, "must be a port from 1 to 65535") },
  productionAddresses.ports
)

const inDays = (length_ms: number): string => `${length_ms / DAY_MS}d`
const MIN_KEPT = inDays(ServiceLimits.events_kept_min_ms)
const DEFAULT_KEPT = inDays(ServiceLimits.events_kept_ms)
const KEPT_TOO_SHORT = `must be at least ${MIN_KEPT}, such as ${MIN_KEPT} or ${DEFAULT_KEPT}`

/** `--keep-events` of every command that delivers. */
export const keepEvents = valueFlag(
  "--keep-events <duration>",
  `How long Postgres keeps events and their delivery attempts, at least ${MIN_KEPT}. Undelivered events are always kept.`,
  {
    decoder: duration.pipe(
      Schema.filter((length) => length >= ServiceLimits.events_kept_min_ms, { message: () => KEPT_TOO_SHORT })
    ),
    fallback: DEFAULT_KEPT
  }
)
