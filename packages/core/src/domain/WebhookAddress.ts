import { type Brand, Either } from "effect"
import { Limits } from "./Limits.js"
import { isInNetworks, isPublicAddress } from "./PublicAddress.js"
import { hasCredentials, urlRefusals, urlTextRefusal } from "./WebLink.js"

/** The address of a shop's webhook, as text: vetted as far as that goes without looking its host up (Specification, Webhooks). */
export type WebhookAddress = string & Brand.Brand<"WebhookAddress">

/** Where webhooks may go. `ports` holds for all but loopback hosts, which `allowLoopbackHttp` frees altogether. */
export interface WebhookAddressPolicy {
  readonly ports: ReadonlyArray<number>
  /** Loopback hosts may be reached, over http or https, on any port (Specification, Sandbox). */
  readonly allowLoopbackHttp: boolean
  /** Networks of the operator's own that are refused besides, such as `203.0.113.0/24`, though their addresses are public. */
  readonly refusedNetworks?: ReadonlyArray<string>
}

/** Whether an address may be called under a policy, be it in the webhook's text or what its host's name led to. */
export const allowsAddress = (ip: string, { refusedNetworks = [] }: WebhookAddressPolicy): boolean =>
  isPublicAddress(ip) && !isInNetworks(ip, refusedNetworks)

const HOST_NAME = /^(?=.{1,253}$)(?:[^.]{1,63}\.)+[^.]{1,63}$/

const REFUSED = {
  unreadable: "must be a web address such as https://shop.example.com/hook",
  scheme: "must start with https://",
  fragment: "must not hold a # and what follows it",
  dot: "must not have a dot at the end of its host",
  host: "must name its host in full, such as shop.example.com",
  localhost: "must not name this machine: give a host that can be reached from the internet",
  address: "must not hold a private or special-purpose address: give one that can be reached from the internet",
  port: (ports: ReadonlyArray<number>) => `must use port ${ports.join(" or ")}`
} as const

const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost")

// `URL` has flattened every spelling of an IPv4 address (0x7f.1, 2130706433, …) to four decimals.
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

const isLoopback = (host: string): boolean =>
  isLocalName(host) || host === "[::1]" || (IPV4.test(host) && host.startsWith("127."))

const hostRefusal = (host: string, policy: WebhookAddressPolicy): string | undefined => {
  if (host.startsWith("[")) return allowsAddress(host.slice(1, -1), policy) ? undefined : REFUSED.address
  if (IPV4.test(host)) return allowsAddress(host, policy) ? undefined : REFUSED.address
  if (host.endsWith(".")) return REFUSED.dot
  if (isLocalName(host)) return REFUSED.localhost
  return HOST_NAME.test(host) ? undefined : REFUSED.host
}

const portOf = (url: URL): number => (url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port))

const refusalOf = (url: URL, policy: WebhookAddressPolicy): string | undefined => {
  const free = policy.allowLoopbackHttp && isLoopback(url.hostname)
  if (url.protocol !== "https:" && !(free && url.protocol === "http:")) return REFUSED.scheme
  if (hasCredentials(url)) return urlRefusals.credentials
  // Not `url.hash`, which is also empty for a lone # at the end.
  if (url.href.includes("#")) return REFUSED.fragment
  if (free) return portOf(url) === 0 ? REFUSED.unreadable : undefined
  return (
    hostRefusal(url.hostname, policy) ?? (policy.ports.includes(portOf(url)) ? undefined : REFUSED.port(policy.ports))
  )
}

/**
 * A webhook's address, or a sentence that says what to change: what could never be dialled is refused when it is set;
 * a host's name is judged when it is dialled, by the addresses it then has (Specification, Webhooks).
 * Kept in the one spelling that `URL` gives it, so that what was judged is what will be dialled.
 */
export const parseWebhookAddress = (
  text: string,
  policy: WebhookAddressPolicy
): Either.Either<WebhookAddress, string> => {
  const trimmed = text.trim()
  const malformed = urlTextRefusal(trimmed)
  if (malformed !== undefined) return Either.left(malformed)
  if (!URL.canParse(trimmed)) return Either.left(REFUSED.unreadable)
  const url = new URL(trimmed)
  const refusal = refusalOf(url, policy)
  if (refusal !== undefined) return Either.left(refusal)
  // Escapes can lengthen it. A bare origin stays without the slash that `URL` puts after it: it reads back as given.
  if (url.href.length > Limits.url_characters) return Either.left(urlRefusals.length)
  return Either.right((url.href === `${trimmed}/` ? trimmed : url.href) as WebhookAddress)
}

/** The policy for production: port 443, and no private addresses. */
export const productionAddresses: WebhookAddressPolicy = { ports: [443], allowLoopbackHttp: false }

/** As `production`, and a tester's own machine (Specification, Sandbox). */
export const sandboxAddresses: WebhookAddressPolicy = { ...productionAddresses, allowLoopbackHttp: true }
