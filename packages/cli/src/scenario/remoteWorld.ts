import { Effect, Random } from "effect"
import { make as makeReceiver } from "../receive/Receiver.js"
import { type World, WorldBroken } from "./World.js"

/** The sandbox's clock is moved at will, so a signature's age by the receiver's own clock means nothing. */
const ANY_AGE_S = 1e12

/** Where a service is that was named with or without `/v1`. */
export const baseOf = (url: string): string => url.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "")

/** Where a service is running, and how it is met. */
interface Remote {
  readonly base_url: string
  readonly sandbox_token: string | null
  /** The header in which it signs. */
  readonly signature_header: string
}

/** A service that is running somewhere, with its sandbox; receivers are real ones, on loopback. */
export const remoteWorld = ({ base_url, sandbox_token, signature_header: header }: Remote): World => ({
  base: baseOf(base_url),
  sandbox_token,
  fetch: (request) => fetch(request),
  // Clients of earlier runs are still there.
  nextPhone: Effect.map(Random.nextIntBetween(0, 10_000_000), (n) => `+2162${String(n).padStart(7, "0")}`),
  openInbox: makeReceiver({ tolerance_seconds: ANY_AGE_S, header }).pipe(
    Effect.map((receiver) => ({ ...receiver, trust: (secret: string) => receiver.trust([secret]) })),
    Effect.mapError(({ message }) => new WorldBroken({ message: `No receiver can be opened here: ${message}` }))
  )
})
