import { Options } from "@effect/cli"
import { isNetwork } from "@workshop/core/domain/PublicAddress"
import { SIGNATURE_HEADER } from "@workshop/core/domain/Signature"
import { production } from "@workshop/core/domain/WebhookAddress"
import { isOwnHeader } from "@workshop/core/ports/WebhookSender"
import { Either } from "effect"
import { list, type Reader, value } from "../terminal/Flags.js"

/** A header's name that is free: under another one the signature would not be sent. */
const headerName: Reader<string> = (given) =>
  isOwnHeader(given)
    ? Either.right(given)
    : Either.left(`must be the name of a header of its own, such as ${SIGNATURE_HEADER}`)

/** `--signature-header` of whoever delivers or receives (Specification, Webhooks). */
export const signatureHeader = value({
  name: "signature-header",
  placeholder: "name",
  description: "The header that carries the signature of a webhook.",
  read: headerName,
  fallback: SIGNATURE_HEADER
})

const port: Reader<number> = (given) =>
  /^\d{1,5}$/.test(given) && Number(given) >= 1 && Number(given) <= 65_535
    ? Either.right(Number(given))
    : Either.left("must be a port from 1 to 65535")

const network: Reader<string> = (given) =>
  isNetwork(given) ? Either.right(given) : Either.left("must be a network, such as 203.0.113.0/24 or 2001:db8::/32")

/** `--refuse-network` of whoever delivers: where webhooks may not go besides the special-purpose addresses (Specification, Webhooks). */
export const refuseNetwork = list({
  name: "refuse-network",
  placeholder: "cidr",
  description:
    "A network that webhooks may not reach though its addresses are public, such as your own; several, between commas or one flag each.",
  read: network
})

/** `--webhook-port` of whoever sets an address or delivers to it: both must be told the same (Specification, Webhooks). At least one. */
export const webhookPort: Options.Options<ReadonlyArray<number>> = Options.map(
  list({
    name: "webhook-port",
    placeholder: "number",
    description: `A port that webhooks may use; several, between commas or one flag each. ${production.ports.join(", ")} alone unless told.`,
    read: port
  }),
  (ports) => (ports.length === 0 ? production.ports : [...new Set(ports)])
)
