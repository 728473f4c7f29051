import { looksLikeKey } from "@workshop/core/domain/ApiKey"
import { Data, Effect } from "effect"
import { CommandRefused } from "../OneSentence.js"

/** Which sandbox, and whose webhook. */
export interface Registration {
  /** The server's address, with or without `/v1`. */
  readonly base: string
  readonly shop: string | null
  readonly key: string | null
  readonly token: string | null
  /** Turns the webhook on where it is off. */
  readonly enable: boolean
}

/** What the receiver learnt. `opened` is the key of a shop that was opened for it. */
export interface Registered {
  readonly shop_id: string
  readonly secret: string
  readonly opened: string | null
  /** Why the webhook is off, so that nothing arrives; null while it is on. */
  readonly off_reason: string | null
}

interface Envelope {
  readonly success: boolean
  readonly data?: unknown
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly details?: { readonly issues?: ReadonlyArray<{ readonly field: string; readonly message: string }> }
  }
}

class Unreachable extends Data.TaggedError("Unreachable")<{ readonly cause: unknown }> {}

interface Call {
  readonly method: string
  readonly path: string
  readonly bearer: string | null
  readonly body?: unknown
}

/** The address without `/v1` and a closing slash. */
export const rootOf = (base: string): string => base.replace(/(?<!\/)\/+$/, "").replace(/\/(v1|sandbox)$/, "")

const ask = (base: string, { method, path, bearer, body }: Call) =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(rootOf(base) + path, {
        method,
        signal,
        headers: {
          ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        body: body === undefined ? null : JSON.stringify(body)
      })
      return { status: response.status, envelope: (await response.json()) as Envelope }
    },
    catch: (cause) => new Unreachable({ cause })
  })

const refuse = (message: string) => new CommandRefused({ message })

const adviceOn = (base: string, { path, bearer }: Call, status: number, { error }: Envelope): CommandRefused => {
  if (status === 404 && error?.message.includes("There is no such shop") === true) {
    return refuse(`${base} knows no shop with this id: give --shop another, or leave it out and give --key.`)
  }
  if (path.startsWith("/sandbox") && status === 404) {
    return refuse(`${base} has no sandbox: start it with workshop serve --sandbox --store memory.`)
  }
  if (path.startsWith("/sandbox") && (status === 401 || status === 403)) {
    const what = bearer === null ? "asks for a token" : "refuses this token"
    return refuse(`The sandbox of ${base} ${what}: give the server's in WORKSHOP_SANDBOX_TOKEN.`)
  }
  if (status === 401) return refuse(`${base} does not know this key: give --key one of the shop's active keys.`)
  const issues = error?.details?.issues?.map(({ field, message }) => `${field} ${message}`).join("; ")
  return refuse(`${base} answered ${status} to ${path}: ${issues ?? error?.message ?? "no more was said"}.`)
}

const good = (base: string, call: Call): Effect.Effect<Readonly<Record<string, unknown>>, CommandRefused> =>
  ask(base, call).pipe(
    Effect.mapError(() =>
      refuse(
        `Nothing answers as a server at ${base}: start workshop serve --sandbox --store memory, or give --register its address.`
      )
    ),
    Effect.flatMap(({ status, envelope }) =>
      envelope.success
        ? Effect.succeed(envelope.data as Readonly<Record<string, unknown>>)
        : Effect.fail(adviceOn(base, call, status, envelope))
    )
  )

const shopOf = Effect.fnUntraced(function* ({ base, shop, key, token }: Registration) {
  if (shop !== null) return { shop_id: shop, opened: null }
  if (key !== null) {
    const { id } = yield* good(base, { method: "GET", path: "/v1/shop", bearer: key })
    return { shop_id: String(id), opened: null }
  }
  const body = { name: "Receiver", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
  const made = yield* good(base, { method: "POST", path: "/sandbox/shops", bearer: token, body })
  const opened = String(made.key)
  // It is printed as a line for a shell.
  if (!looksLikeKey(opened)) return yield* refuse(`${base} opened a shop with what is no key: is it a sandbox?`)
  return { shop_id: String((made.shop as { readonly id: string }).id), opened }
})

const pathOf = (shop_id: string): string => `/sandbox/shops/${encodeURIComponent(shop_id)}/webhook`

/** Points the webhook of a sandbox shop at an address; a shop is opened where none is named. */
export const register = Effect.fnUntraced(function* (registration: Registration, url: string) {
  const { base, token } = registration
  const { shop_id, opened } = yield* shopOf(registration)
  const path = pathOf(shop_id)
  const { secret } = yield* good(base, { method: "PUT", path, bearer: token, body: { url } })
  const found = yield* good(base, { method: "GET", path, bearer: token })
  const isOff = found.on === false
  if (isOff && registration.enable) yield* good(base, { method: "POST", path: `${path}/enable`, bearer: token })
  const off_reason = isOff && !registration.enable ? String(found.off_reason ?? "unknown") : null
  return { shop_id, opened, secret: String(secret), off_reason } satisfies Registered
})

/** A webhook that was pointed at an address. */
export interface Pointed {
  readonly registration: Registration
  readonly shop_id: string
  readonly url: string
}

/** Why nothing arrives at its address: the webhook is off, removed, or leads elsewhere; null while events come. */
export const silenceOf = Effect.fnUntraced(function* ({ registration: { base, token }, shop_id, url }: Pointed) {
  const found = yield* good(base, { method: "GET", path: pathOf(shop_id), bearer: token })
  if (found.url !== url) return found.url === null ? "removed" : "moved"
  return found.on === false ? String(found.off_reason ?? "unknown") : null
})

/** The secret of now; null where the webhook leads elsewhere, since who asks for the secret sets the address. */
export const secretNow = (pointed: Pointed): Effect.Effect<string | null> =>
  Effect.gen(function* () {
    const { registration, shop_id, url } = pointed
    const { base, token } = registration
    const silence = yield* silenceOf(pointed)
    if (silence === "moved" || silence === "removed") return null
    const { secret } = yield* good(base, { method: "PUT", path: pathOf(shop_id), bearer: token, body: { url } })
    return String(secret)
  }).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => null)
  )

/** The instant of a sandbox's clock, by which it signs; the receiver's own where the sandbox does not tell. */
export const sandboxNow = ({ base, token }: Registration): Effect.Effect<number> =>
  ask(base, { method: "GET", path: "/sandbox/clock", bearer: token }).pipe(
    Effect.map(({ envelope }) => Date.parse((envelope.data as { readonly now: string }).now)),
    Effect.filterOrFail(Number.isFinite),
    Effect.timeout("2 seconds"),
    Effect.catchAllCause(() => Effect.clockWith((clock) => clock.currentTimeMillis))
  )
