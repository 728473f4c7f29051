import { isIP } from "node:net"
import { parseWebhookAddress, type WebhookAddressPolicy } from "@workshop/core"
import { allowsHost, LOOPBACK_ADDRESSES, reachableAddresses } from "@workshop/core/internal"
import { Effect, Either } from "effect"
import type { Resolve } from "./Resolver.js"
import { type SendFailed, sendFailed } from "./SendFailed.js"

/** The parts of a webhook's URL. */
export interface Target {
  readonly isHttps: boolean
  /** A host name, or an IP address without brackets. */
  readonly host: string
  /** The value of the `Host` header. */
  readonly authority: string
  readonly port: number
  readonly path: string
  /** The origin of the URL. Only targets with the same origin share connections. */
  readonly origin: string
  /**
   * Whether an IP address is allowed. It is called before connecting, and again with the connection's remote address.
   */
  readonly allowsAddress: (address: string) => boolean
  /**
   * The allowed IP addresses, or for a name their look-up, which runs for every event because the addresses may change.
   */
  readonly addresses: ReadonlyArray<string> | Effect.Effect<ReadonlyArray<string>, SendFailed>
}

/** The rules that decide whether a target is allowed. Tests replace all except the policy. */
export interface TargetRules {
  readonly policy: WebhookAddressPolicy
  readonly resolve: Resolve
  readonly isPublic: (address: string) => boolean
}

/** Fails if the host has no address, or if core does not allow its addresses. */
const checkAddresses = (
  addresses: ReadonlyArray<string>,
  allowsAddress: Target["allowsAddress"]
): Either.Either<ReadonlyArray<string>, SendFailed> => {
  if (addresses.length === 0) return Either.left(sendFailed("lookup"))
  return allowsHost(addresses, allowsAddress) ? Either.right(addresses) : Either.left(sendFailed("refused_address"))
}

const parseTarget = (url: string, { policy, resolve, isPublic }: TargetRules): Either.Either<Target, SendFailed> => {
  if (Either.isLeft(parseWebhookAddress(url, policy))) return Either.left(sendFailed("refused_address"))
  const { isLoopback, allows: allowsAddress } = reachableAddresses(url, policy, isPublic)
  const { protocol, hostname, host: authority, port, pathname, search } = new URL(url)
  const isHttps = protocol === "https:"
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  const target = {
    isHttps,
    host,
    authority,
    port: port === "" ? (isHttps ? 443 : 80) : Number(port),
    path: pathname + search,
    origin: `${protocol}//${authority}`,
    allowsAddress
  }
  const fixedAddresses = isIP(host) !== 0 ? [host] : isLoopback ? LOOPBACK_ADDRESSES : undefined
  if (fixedAddresses !== undefined)
    return Either.map(checkAddresses(fixedAddresses, allowsAddress), (addresses) => ({ addresses, ...target }))
  return Either.right({
    addresses: Effect.flatMap(resolve(host), (resolved) => checkAddresses(resolved, allowsAddress)),
    ...target
  })
}

/** The maximum number of cached targets. They are cached, because parsing a URL takes longer than sending a request. */
const MAX_CACHED_URLS = 4_096

/** A cache of parsed targets, by URL. */
export class Targets {
  readonly #rules: TargetRules
  readonly #cache = new Map<string, Either.Either<Target, SendFailed>>()

  constructor(rules: TargetRules) {
    this.#rules = rules
  }

  /** Returns the target of a URL. Fails if the policy refuses the URL. */
  get(url: string): Either.Either<Target, SendFailed> {
    const cached = this.#cache.get(url)
    if (cached !== undefined) return cached
    const target = parseTarget(url, this.#rules)
    if (this.#cache.size >= MAX_CACHED_URLS) this.#cache.clear()
    this.#cache.set(url, target)
    return target
  }
}
