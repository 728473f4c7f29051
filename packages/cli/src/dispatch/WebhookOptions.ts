import { validateHeaderName } from "node:http"
import { Options } from "@effect/cli"
import { SIGNATURE_HEADER } from "@workshop/core/domain/Signature"
import { production } from "@workshop/core/domain/WebhookAddress"
import { REQUEST_HEADERS } from "@workshop/http-node/sender/Request"
import { Either } from "effect"
import { list, type Reader, value } from "../terminal/Flags.js"

const isHeaderName = (given: string): boolean => {
  try {
    validateHeaderName(given)
    return true
  } catch {
    return false
  }
}

/** A header's name that is free: under another one the signature would not be sent. */
const headerName: Reader<string> = (given) =>
  isHeaderName(given) && !REQUEST_HEADERS.has(given.toLowerCase())
    ? Either.right(given)
    : Either.left(`must be the name of a header of its own, such as ${SIGNATURE_HEADER}`)

/** `--signature-header` of whoever delivers or receives (spec §6). */
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

/** `--webhook-port` of whoever sets an address or delivers to it: both must be told the same (contract §9). At least one. */
export const webhookPort: Options.Options<ReadonlyArray<number>> = Options.map(
  list({
    name: "webhook-port",
    placeholder: "number",
    description: `A port that webhooks may use; several, between commas or one flag each. ${production.ports.join(", ")} alone unless told.`,
    read: port
  }),
  (ports) => (ports.length === 0 ? production.ports : [...new Set(ports)])
)
