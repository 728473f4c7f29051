import { DEFAULT_TOLERANCE_SECONDS } from "@workshop/webhooks"
import { signatureHeader } from "../dispatch/WebhookOptions.js"
import { flagsOf, jsonFlag, optionalFlag, repeatableFlag, type Values, valueFlag } from "../terminal/commands.js"
import { duration, host, port, share, webAddress, wholeNumber } from "../terminal/decoders.js"

const own = flagsOf("receive")

/** The flags of `workshop receive` (Specification, Commands). */
export const receiveOptions = {
  port: own.value("--port <number>", "The port to listen on; 0 selects a free one.", {
    decoder: port,
    fallback: "4020"
  }),
  host: own.value("--host <address>", "The address to listen on.", { decoder: host, fallback: "127.0.0.1" }),
  secret: repeatableFlag(
    "--secret <secret>",
    "The webhook's secret. During a rotation, give both secrets. Separate them by a comma or repeat the flag."
  ),
  signatureHeader,
  tolerance: valueFlag("--tolerance <duration>", "How far a signature's time may be from this machine's clock.", {
    decoder: duration,
    fallback: `${DEFAULT_TOLERANCE_SECONDS / 60}m`
  }),
  register: optionalFlag(
    "--register <url>",
    "The address of a server with a sandbox. The receiver sets a shop's webhook there to its own address, and gets the webhook's secret.",
    { decoder: webAddress }
  ),
  shop: optionalFlag(
    "--shop <id>",
    "With --register, the id of the shop whose webhook to set. The default is the shop of --key, or a new shop if --key is omitted."
  ),
  key: optionalFlag("--key <key>", "With --register, an API key of the shop whose webhook to set."),
  sandboxToken: optionalFlag(
    "--sandbox-token <token>",
    "With --register, the token of the sandbox, if it requires one."
  ),
  enable: own.toggle(
    "enable",
    "With --register, turn the webhook on if it is off, which sends its waiting deliveries."
  ),
  status: own.value("--status <number>", "The HTTP status of every response.", {
    decoder: wholeNumber(200, 599, "must be a status from 200 to 599"),
    fallback: "200"
  }),
  delay: own.value("--delay <duration>", "How long to wait before the status line, such as 3s.", {
    decoder: duration,
    fallback: "0s"
  }),
  failShare: own.value("--fail-share <share>", "The share of events that get a 500, such as 0.3.", {
    decoder: share,
    fallback: "0"
  }),
  seed: valueFlag("--seed <number>", "The seed that decides which events fail with --fail-share.", {
    decoder: wholeNumber(0, 4_294_967_295),
    fallback: "1"
  }),
  redirect: own.optional("--redirect <url>", "Respond with a redirect to this address.", { decoder: webAddress }),
  forwardTo: own.optional(
    "--forward-to <url>",
    "Forward each event with a valid signature to this address, and respond with the status that it gets.",
    { decoder: webAddress }
  ),
  gone: own.toggle("gone", "Respond 410, which turns the webhook off."),
  endless: own.toggle("endless", "Respond 200 with a body that never ends."),
  json: jsonFlag
}

/** The values of the flags. */
export type ReceiveFlags = Values<typeof receiveOptions>
