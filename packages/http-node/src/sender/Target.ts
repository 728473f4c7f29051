import { isIP, isIPv4 } from "node:net"
import { parseWebhookAddress, type WebhookAddressPolicy } from "@workshop/core"
import { Effect, Either } from "effect"
import { type NotSent, notSent } from "./NotSent.js"
import type { Resolve } from "./Resolver.js"

/** Where the text of a webhook's address leads. */
export interface Route {
  readonly secure: boolean
  /** A name, or an address without brackets. */
  readonly host: string
  /** The host as the `Host` header has it. */
  readonly authority: string
  readonly port: number
  readonly path: string
  /** Parts its connections from those of other routes. */
  readonly key: string
  /** Whether an address may be called on this route: asked before the dial, and again of the connection's other end. */
  readonly allows: (address: string) => boolean
  /** The vetted addresses, or how to find them where the host is a name, as it may lead elsewhere each time. */
  readonly addresses: ReadonlyArray<string> | Effect.Effect<ReadonlyArray<string>, NotSent>
}

/** What decides on a route; all but the policy is for tests to replace. */
export interface RouteRules {
  readonly policy: WebhookAddressPolicy
  readonly resolve: Resolve
  readonly isPublic: (address: string) => boolean
}

const isLoopback = (address: string): boolean => address === "::1" || (isIPv4(address) && address.startsWith("127."))

const LOOPBACK = ["127.0.0.1", "::1"]

/** No receiver has more addresses. A name server may send thousands, and to judge each takes the time of everybody. */
const MOST_ADDRESSES = 64

/** One refused address among several refuses them all: a name that leads inside, even in part, means no good. */
const vetted = (all: ReadonlyArray<string>, allows: Route["allows"]): Either.Either<ReadonlyArray<string>, NotSent> => {
  if (all.length === 0) return Either.left(notSent("lookup"))
  return all.length <= MOST_ADDRESSES && all.every(allows) ? Either.right(all) : Either.left(notSent("refused_address"))
}

/** The route to an address; none where the policy refuses it. */
const routeOf = (url: string, { policy, resolve, isPublic }: RouteRules): Either.Either<Route, NotSent> => {
  if (Either.isLeft(parseWebhookAddress(url, policy))) return Either.left(notSent("refused_address"))
  // What only the freedom of loopback lets through is loopback.
  const loopback = Either.isLeft(parseWebhookAddress(url, { ...policy, allowLoopbackHttp: false }))
  const { protocol, hostname, host: authority, port, pathname, search } = new URL(url)
  const secure = protocol === "https:"
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  const allows = loopback ? isLoopback : isPublic
  const portNumber = port === "" ? (secure ? 443 : 80) : Number(port)
  const key = `${protocol} ${authority} ${portNumber}`
  const route = { secure, host, authority, port: portNumber, path: pathname + search, key, allows }
  const known = isIP(host) !== 0 ? [host] : loopback ? LOOPBACK : undefined
  if (known !== undefined) return Either.map(vetted(known, allows), (addresses) => ({ ...route, addresses }))
  return Either.right({ ...route, addresses: Effect.flatMap(resolve(host), (all) => vetted(all, allows)) })
}

/** So many routes are remembered: to read an address takes longer than to send to it. */
const MOST_REMEMBERED = 4_096

/** Routes, each read once for many events to the same webhook. */
export class Routes {
  readonly #rules: RouteRules
  readonly #known = new Map<string, Either.Either<Route, NotSent>>()

  constructor(rules: RouteRules) {
    this.#rules = rules
  }

  /** The route to an address. */
  to(url: string): Either.Either<Route, NotSent> {
    const known = this.#known.get(url)
    if (known !== undefined) return known
    const route = routeOf(url, this.#rules)
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear()
    this.#known.set(url, route)
    return route
  }
}
