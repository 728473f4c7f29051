import * as Net from "node:net"
import * as Tls from "node:tls"
import { Effect } from "effect"
import type { AttemptProgress } from "./AttemptProgress.js"
import { type SendFailed, sendFailed } from "./SendFailed.js"
import type { Target } from "./Target.js"

/** The maximum number of a name's addresses that are tried. */
const MAX_TRIED_ADDRESSES = 4

/** The options of opening a connection. */
export interface DialOptions {
  readonly deadlineMs: number
  readonly secureContext: Tls.SecureContext
}

const destroyAtEnd = (socket: Net.Socket, progress: AttemptProgress) =>
  progress.onEnd(() => {
    if (!progress.canReuse) socket.destroy()
  })

/** Waits for an event of a socket. Listeners stay on the socket, because an error may come later. */
const waitFor = (socket: Net.Socket, event: "connect" | "secureConnect", error: "connect" | "tls") =>
  Effect.async<void, SendFailed>((resume) => {
    socket.on(event, () => resume(Effect.void))
    socket.on("error", (cause) => resume(Effect.fail(sendFailed(error, cause))))
    socket.on("close", () => resume(Effect.fail(sendFailed(error))))
    return Effect.sync(() => socket.destroy())
  })

/** Connects to an IP address, so that node does no look-up. Then checks the connection's remote address. */
const connect = (address: string, { port, allowsAddress }: Target, progress: AttemptProgress) =>
  Effect.suspend(() => {
    progress.address = address
    const socket = Net.connect({ host: address, port, noDelay: true })
    destroyAtEnd(socket, progress)
    return Effect.as(waitFor(socket, "connect", "connect"), socket)
  }).pipe(
    Effect.filterOrFail(
      ({ remoteAddress }) => remoteAddress !== undefined && allowsAddress(remoteAddress),
      () => {
        progress.address = null
        return sendFailed("refused_address")
      }
    )
  )

/** Tries the addresses in order. Each except the last gets an equal share of the deadline. */
const connectAny = (
  addresses: ReadonlyArray<string>,
  target: Target,
  progress: AttemptProgress,
  deadlineMs: number
) => {
  const triedAddresses = addresses.slice(0, MAX_TRIED_ADDRESSES)
  return triedAddresses
    .map((address, i) => {
      const attempt = connect(address, target, progress)
      const onTimeout = () => sendFailed("connect")
      const isLast = i === triedAddresses.length - 1
      return isLast ? attempt : Effect.timeoutFail(attempt, { duration: deadlineMs / triedAddresses.length, onTimeout })
    })
    .reduce((attempt, next) =>
      Effect.catchIf(
        attempt,
        ({ error }) => error === "connect",
        () => next
      )
    )
}

/** Starts TLS. The certificate must be trusted and be for the host of the webhook's URL. */
const encrypt = (socket: Net.Socket, host: string, secureContext: Tls.SecureContext, progress: AttemptProgress) =>
  Effect.suspend(() => {
    const tls = Tls.connect({
      socket,
      host,
      servername: Net.isIP(host) === 0 ? host : "",
      secureContext,
      // Set explicitly, because an environment variable could disable the default.
      rejectUnauthorized: true,
      ALPNProtocols: ["http/1.1"]
    })
    destroyAtEnd(tls, progress)
    return Effect.as(waitFor(tls, "secureConnect", "tls"), tls)
  })

/** Connects to one of the allowed addresses. The end of the attempt destroys the socket unless it can be reused. */
export const dial = Effect.fnUntraced(function* (
  addresses: ReadonlyArray<string>,
  target: Target,
  progress: AttemptProgress,
  { deadlineMs, secureContext }: DialOptions
) {
  const plain = yield* progress.measure("connect_ms", connectAny(addresses, target, progress, deadlineMs))
  const socket = target.isHttps
    ? yield* progress.measure("tls_ms", encrypt(plain, target.host, secureContext, progress))
    : plain
  if (socket.destroyed) return yield* sendFailed("reset")
  return [progress.address!, socket] as const
})
