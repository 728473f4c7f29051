import * as Net from "node:net"
import * as Tls from "node:tls"
import { Effect } from "effect"
import type { Call } from "./Call.js"
import { type NotSent, notSent } from "./NotSent.js"
import type { Route } from "./Route.js"

/** More than these many addresses of one name are not tried. */
const MOST_ADDRESSES = 4

/** How connections are opened. */
export interface DialOptions {
  readonly deadline_ms: number
  readonly secureContext: Tls.SecureContext
}

const destroyedAtEnd = (socket: Net.Socket, call: Call) =>
  call.atEnd(() => {
    if (!call.clean) socket.destroy()
  })

/** Settles with the first of its events. The socket keeps its listeners: a late error must find one. */
const first = (socket: Net.Socket, done: "connect" | "secureConnect", error: "connect" | "tls") =>
  Effect.async<void, NotSent>((resume) => {
    socket.on(done, () => resume(Effect.void))
    socket.on("error", (cause) => resume(Effect.fail(notSent(error, cause))))
    socket.on("close", () => resume(Effect.fail(notSent(error))))
    return Effect.sync(() => socket.destroy())
  })

/** By literal address, so that no look-up of Node's own can lead anywhere else. */
const connect = (address: string, { port, allows }: Route, call: Call) =>
  Effect.suspend(() => {
    call.address = address
    const socket = Net.connect({ host: address, port, noDelay: true })
    destroyedAtEnd(socket, call)
    return Effect.as(first(socket, "connect", "connect"), socket)
  }).pipe(
    Effect.filterOrFail(
      ({ remoteAddress }) => remoteAddress !== undefined && allows(remoteAddress),
      () => {
        call.address = null
        return notSent("refused_address")
      }
    )
  )

/** The first address that takes a connection; a silent one keeps the others waiting for its share of the time only. */
const connectAny = (addresses: ReadonlyArray<string>, route: Route, call: Call, deadline_ms: number) =>
  Effect.suspend(() => {
    const tried = addresses.slice(0, MOST_ADDRESSES)
    const share = (address: string, last: boolean) => {
      const one = connect(address, route, call)
      const onTimeout = () => notSent("connect")
      return last ? one : Effect.timeoutFail(one, { duration: deadline_ms / tried.length, onTimeout })
    }
    return tried
      .map((address, i) => share(address, i === tried.length - 1))
      .reduce((one, next) =>
        Effect.catchIf(
          one,
          ({ error }) => error === "connect",
          () => next
        )
      )
  })

/** The certificate must be trusted, and for the name in the webhook's address, whatever address that led to. */
const secure = (socket: Net.Socket, host: string, secureContext: Tls.SecureContext, call: Call) =>
  Effect.suspend(() => {
    const tls = Tls.connect({
      socket,
      host,
      servername: Net.isIP(host) === 0 ? host : "",
      secureContext,
      // Stated, as an environment variable could say otherwise.
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"]
    })
    destroyedAtEnd(tls, call)
    return Effect.as(first(tls, "secureConnect", "tls"), tls)
  })

/**
 * A connection to one of the vetted addresses of a route, and to which; destroyed at the end of the call unless that
 * was clean.
 */
export const dial = Effect.fnUntraced(function* (
  addresses: ReadonlyArray<string>,
  route: Route,
  call: Call,
  { deadline_ms, secureContext }: DialOptions
) {
  const plain = yield* call.timed("connect_ms", connectAny(addresses, route, call, deadline_ms))
  const socket = route.secure ? yield* call.timed("tls_ms", secure(plain, route.host, secureContext, call)) : plain
  if (socket.destroyed) return yield* notSent("reset")
  return [call.address!, socket] as const
})
