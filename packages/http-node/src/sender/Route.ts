import { isIP, isIPv4 } from "node:net"
import { type Policy, parse } from "@workshop/core/domain/WebhookAddress"
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
  /** Whether an address may be called on this route: asked before the dial, and again of the connection's other end. */
  readonly allows: (address: string) => boolean
  readonly addresses: Effect.Effect<ReadonlyArray<string>, NotSent>
}

/** What decides on a route; all but the policy is for tests to replace. */
export interface RouteRules {
  readonly policy: Policy
  readonly resolve: Resolve
  readonly isPublic: (address: string) => boolean
}

const isLoopback = (address: string): boolean => address === "::1" || (isIPv4(address) && address.startsWith("127."))

const LOOPBACK = Effect.succeed(["127.0.0.1", "::1"])

const addressesOf = (host: string, loopback: boolean, resolve: Resolve): Route["addresses"] => {
  if (isIP(host) !== 0) return Effect.succeed([host])
  return loopback ? LOOPBACK : resolve(host)
}

/** One refused address among several refuses them all: a name that leads inside, even in part, means no good. */
const vetted = (addresses: Route["addresses"], allows: Route["allows"]): Route["addresses"] =>
  Effect.flatMap(addresses, (all) => {
    if (all.length === 0) return Effect.fail(notSent("lookup"))
    return all.every(allows) ? Effect.succeed(all) : Effect.fail(notSent("refused_address"))
  })

/** The route to an address; none where the policy refuses it. */
export const routeOf = (url: string, { policy, resolve, isPublic }: RouteRules): Either.Either<Route, NotSent> => {
  if (Either.isLeft(parse(url, policy))) return Either.left(notSent("refused_address"))
  // What only the freedom of loopback lets through is loopback.
  const loopback = Either.isLeft(parse(url, { ...policy, allowLoopbackHttp: false }))
  const { protocol, hostname, host: authority, port, pathname, search } = new URL(url)
  const secure = protocol === "https:"
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  const allows = loopback ? isLoopback : isPublic
  return Either.right({
    secure,
    host,
    authority,
    port: port === "" ? (secure ? 443 : 80) : Number(port),
    path: pathname + search,
    allows,
    addresses: vetted(addressesOf(host, loopback, resolve), allows)
  })
}
