import { type Brand, Either } from "effect"
import { Limits, ServiceLimits } from "./Limits.js"
import { isInNetworks, isPublicAddress } from "./PublicAddress.js"
import { hasCredentials, urlRefusals, urlTextRefusal } from "./WebLink.js"

/** The URL of a shop's webhook, checked as far as possible without looking up its host (Specification, Webhooks). */
export type WebhookAddress = string & Brand.Brand<"WebhookAddress">

/**
 * The addresses to which webhooks may be sent. `ports` applies to all hosts except loopback ones, which
 * `allowLoopbackHttp` permits on any port.
 */
export interface WebhookAddressPolicy {
  /** The ports that a URL may have, including the default port of its scheme; 443 in production. */
  readonly ports: ReadonlyArray<number>
  /** Whether loopback hosts are allowed, over http or https, on any port (Specification, Sandbox). */
  readonly allowLoopbackHttp: boolean
  /** The operator's own networks that are also refused, such as `203.0.113.0/24`, although their addresses are public. */
  readonly refusedNetworks?: ReadonlyArray<string>
}

/** Whether a policy allows connecting to an address, which is in the URL or to which its host name resolved. */
export const allowsAddress = (ip: string, policy: WebhookAddressPolicy): boolean =>
  isPublicAddress(ip) && !isInNetworks(ip, policy.refusedNetworks ?? [])

const HOST_NAME = /^(?=.{1,253}$)(?:[^.]{1,63}\.)+[^.]{1,63}$/

const REFUSED = {
  unreadable: "must be a web address such as https://shop.example.com/hook",
  scheme: "must start with https://",
  scheme_or_loopback: "must start with https://, or with http:// if its host is this machine",
  fragment: "must not contain a fragment, which begins with #",
  dot: "must not have a dot at the end of its host name",
  host: "must have a complete host name, such as shop.example.com",
  localhost: "must not have this machine as its host; give a host that can be reached from the internet",
  address:
    "must not have a private or special-purpose IP address; give an address that can be reached from the internet",
  port: (ports: ReadonlyArray<number>) => `must use port ${ports.join(" or ")}`
} as const

const isLocalName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost")

// `URL` has converted every spelling of an IPv4 address (0x7f.1, 2130706433, …) to four decimals.
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/

/** The addresses to which a local name leads, such as `localhost`. */
export const LOOPBACK_ADDRESSES: ReadonlyArray<string> = ["127.0.0.1", "::1"]

/** Whether an IP address, in the form of {@link isPublicAddress}, is one of the machine itself. */
const isLoopbackAddress = (ip: string): boolean => ip === "::1" || (IPV4.test(ip) && ip.startsWith("127."))

const withoutBrackets = (host: string): string => (host.startsWith("[") ? host.slice(1, -1) : host)

const isLoopback = (host: string): boolean => isLocalName(host) || isLoopbackAddress(withoutBrackets(host))

const hostRefusal = (host: string, policy: WebhookAddressPolicy): string | undefined => {
  if (host.startsWith("[")) return allowsAddress(host.slice(1, -1), policy) ? undefined : REFUSED.address
  if (IPV4.test(host)) return allowsAddress(host, policy) ? undefined : REFUSED.address
  if (host.endsWith(".")) return REFUSED.dot
  if (isLocalName(host)) return REFUSED.localhost
  return HOST_NAME.test(host) ? undefined : REFUSED.host
}

/** The port of an https address. */
const portOf = (url: URL): number => (url.port === "" ? 443 : Number(url.port))

const refusalOf = (url: URL, policy: WebhookAddressPolicy): string | undefined => {
  const isLoopbackAllowed = policy.allowLoopbackHttp && isLoopback(url.hostname)
  if (url.protocol !== "https:" && !(isLoopbackAllowed && url.protocol === "http:"))
    return policy.allowLoopbackHttp ? REFUSED.scheme_or_loopback : REFUSED.scheme
  if (hasCredentials(url)) return urlRefusals.credentials
  // This does not use `url.hash`, which is also empty if the URL ends in `#`.
  if (url.href.includes("#")) return REFUSED.fragment
  if (isLoopbackAllowed) return url.port === "0" ? REFUSED.unreadable : undefined
  return (
    hostRefusal(url.hostname, policy) ?? (policy.ports.includes(portOf(url)) ? undefined : REFUSED.port(policy.ports))
  )
}

/**
 * A webhook's URL, or a sentence that says what to change. A URL that can never be allowed is refused when it is set; a
 * host name is checked before each connection, by the addresses that it then has (Specification, Webhooks). The URL is
 * stored in the form that `URL` produces, so that the service uses exactly the URL that it checked.
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
  // Escapes can make the URL longer. A URL without a path is returned as given, without the slash that `URL` appends.
  if (url.href.length > Limits.url_characters) return Either.left(urlRefusals.length)
  return Either.right((url.href === `${trimmed}/` ? trimmed : url.href) as WebhookAddress)
}

/**
 * Whether an address to which an allowed URL leads may be connected to: a public one by `isPublic`, or only one of the
 * machine itself for a URL that is allowed only because the policy allows loopback hosts (Specification, Webhooks).
 */
export const reachableAddresses = (
  url: string,
  policy: WebhookAddressPolicy,
  isPublic: (ip: string) => boolean
): { readonly isLoopback: boolean; readonly allows: (ip: string) => boolean } => {
  const isLoopback = Either.isLeft(parseWebhookAddress(url, { ...policy, allowLoopbackHttp: false }))
  return { isLoopback, allows: isLoopback ? isLoopbackAddress : isPublic }
}

/**
 * Whether a host with these addresses may be connected to: all must be allowed, because no legitimate name has an
 * address in a private network among public ones, and there are at most `ServiceLimits.webhook_addresses_max`.
 */
export const allowsHost = (addresses: ReadonlyArray<string>, allows: (ip: string) => boolean): boolean =>
  addresses.length <= ServiceLimits.webhook_addresses_max && addresses.every(allows)

/** The policy for production: port 443, and no private addresses. */
export const productionAddresses: WebhookAddressPolicy = { ports: [443], allowLoopbackHttp: false }

/**
 * Like {@link productionAddresses}, but it also allows loopback hosts of a tester's machine (Specification, Sandbox).
 */
export const sandboxAddresses: WebhookAddressPolicy = { ...productionAddresses, allowLoopbackHttp: true }
