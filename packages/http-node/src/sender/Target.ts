import { isIP, isIPv4 } from "node:net"
import { parseWebhookAddress, type WebhookAddressPolicy } from "@workshop/core"
import { Effect, Either } from "effect"
import type { Resolve } from "./Resolver.js"
import { type SendFailed, sendFailed } from "./SendFailed.js"

/** The parts of a webhook's URL. */
export interface Target {
  readonly isHttps: boolean
  /** A name, or an IP address without brackets. */
  readonly host: string
  /** The value of the `Host` header. */
  readonly authority: string
  readonly port: number
  readonly path: string
  /** Connections are shared only between targets of the same origin. */
  readonly origin: string
  /** Whether an address may be called. It is asked before dialling, and again about the other end of the connection. */
  readonly allowsAddress: (address: string) => boolean
  /** The allowed addresses. A name is looked up for every event, because its addresses may change. */
  readonly addresses: ReadonlyArray<string> | Effect.Effect<ReadonlyArray<string>, SendFailed>
}

/** The rules by which a target is allowed. Tests replace all but the policy. */
export interface TargetRules {
  readonly policy: WebhookAddressPolicy
  readonly resolve: Resolve
  readonly isPublic: (address: string) => boolean
}

const isLoopback = (address: string): boolean => address === "::1" || (isIPv4(address) && address.startsWith("127."))

const LOOPBACK = ["127.0.0.1", "::1"]

/** A name server may send thousands of addresses, and to check each would delay every other shop. */
const MAX_ADDRESSES = 64

/** A single refused address refuses them all, because no honest name leads inside our network even in part. */
const allowed = (
  all: ReadonlyArray<string>,
  allowsAddress: Target["allowsAddress"]
): Either.Either<ReadonlyArray<string>, SendFailed> => {
  if (all.length === 0) return Either.left(sendFailed("lookup"))
  const isAllowed = all.length <= MAX_ADDRESSES && all.every(allowsAddress)
  return isAllowed ? Either.right(all) : Either.left(sendFailed("refused_address"))
}

const parseTarget = (url: string, { policy, resolve, isPublic }: TargetRules): Either.Either<Target, SendFailed> => {
  if (Either.isLeft(parseWebhookAddress(url, policy))) return Either.left(sendFailed("refused_address"))
  // A URL that is allowed only because the policy allows loopback may lead to nothing but loopback.
  const mustBeLoopback = Either.isLeft(parseWebhookAddress(url, { ...policy, allowLoopbackHttp: false }))
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
    allowsAddress: mustBeLoopback ? isLoopback : isPublic
  }
  const { allowsAddress } = target
  const fixed = isIP(host) !== 0 ? [host] : mustBeLoopback ? LOOPBACK : undefined
  if (fixed !== undefined) return Either.map(allowed(fixed, allowsAddress), (addresses) => ({ addresses, ...target }))
  return Either.right({ addresses: Effect.flatMap(resolve(host), (all) => allowed(all, allowsAddress)), ...target })
}

/** To parse a URL takes longer than to send to it, so this many are cached. */
const MAX_CACHED = 4_096

/** Targets by URL, each parsed once for many events. */
export class Targets {
  readonly #rules: TargetRules
  readonly #cache = new Map<string, Either.Either<Target, SendFailed>>()

  constructor(rules: TargetRules) {
    this.#rules = rules
  }

  /** Fails if the policy refuses the URL. */
  get(url: string): Either.Either<Target, SendFailed> {
    const cached = this.#cache.get(url)
    if (cached !== undefined) return cached
    const target = parseTarget(url, this.#rules)
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear()
    this.#cache.set(url, target)
    return target
  }
}
