import { looksLikeKey } from "@workshop/core"
import { Effect } from "effect"
import { CommandRefused } from "../CommandRefused.js"
import { Api, type CallOptions, dataOf, type Exchange, envelopeOf } from "../testkit/Api.js"

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
  /** The address that the webhook had before; null where it had none, or this one. */
  readonly replaced: string | null
  readonly opened: string | null
  /** Why the webhook is off, so that nothing arrives; null while it is on. */
  readonly off_reason: string | null
}

const refuse = (message: string) => new CommandRefused({ message })

const adviceOn = ({ base, token }: Registration, path: string, { response }: Exchange): CommandRefused => {
  const { status } = response
  const error = envelopeOf(response)?.error
  if (status === 404 && error?.message.includes("There is no such shop") === true) {
    return refuse(`${base} knows no shop with this id: give --shop another, or leave it out and give --key.`)
  }
  if (path.startsWith("/sandbox") && status === 404) {
    return refuse(`${base} has no sandbox: start it with workshop serve --sandbox --store memory.`)
  }
  if (path.startsWith("/sandbox") && (status === 401 || status === 403)) {
    const what = token === null ? "asks for a token" : "refuses this token"
    return refuse(`The sandbox of ${base} ${what}: give the server's in WORKSHOP_SANDBOX_TOKEN.`)
  }
  if (status === 401) return refuse(`${base} does not know this key: give --key one of the shop's active keys.`)
  const issues = error?.details?.issues as
    | ReadonlyArray<{ readonly field: string; readonly message: string }>
    | undefined
  const found = issues?.map(({ field, message }) => `${field} ${message}`).join("; ")
  return refuse(`${base} answered ${status} to ${path}: ${found ?? error?.message ?? "no more was said"}.`)
}

const apiOf = ({ base, token }: Registration): Api => new Api(base, { sandbox_token: token })

/** The data of a response; anything but a success in its envelope is a refusal with advice. */
const dataFrom = (
  registration: Registration,
  method: string,
  path: string,
  options: CallOptions = {}
): Effect.Effect<Readonly<Record<string, unknown>>, CommandRefused> => {
  const nothingThere = refuse(
    `Nothing answers as a server at ${registration.base}: start workshop serve --sandbox --store memory, or give --register its address.`
  )
  return Effect.flatMap(
    Effect.mapError(apiOf(registration).call(method, path, options), () => nothingThere),
    (exchange): Effect.Effect<Readonly<Record<string, unknown>>, CommandRefused> => {
      const envelope = envelopeOf(exchange.response)
      if (envelope === undefined) return nothingThere
      return envelope.success === true
        ? Effect.succeed(envelope.data as Readonly<Record<string, unknown>>)
        : adviceOn(registration, path, exchange)
    }
  )
}

const shopOf = Effect.fnUntraced(function* (registration: Registration) {
  const { base, shop, key } = registration
  if (shop !== null) return { shop_id: shop, opened: null }
  if (key !== null) {
    const { id } = yield* dataFrom(registration, "GET", "/v1/shop", { bearer: key })
    return { shop_id: String(id), opened: null }
  }
  const body = { name: "Receiver", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
  const made = yield* dataFrom(registration, "POST", "/sandbox/shops", { body })
  const opened = String(made.key)
  // It is printed as a line for a shell.
  if (!looksLikeKey(opened)) return yield* refuse(`${base} opened a shop with what is no key: is it a sandbox?`)
  return { shop_id: String((made.shop as { readonly id: string }).id), opened }
})

const pathOf = (shop_id: string): string => `/sandbox/shops/${encodeURIComponent(shop_id)}/webhook`

/** Points the webhook of a sandbox shop at an address; a shop is opened where none is named. */
export const register = Effect.fnUntraced(function* (registration: Registration, url: string) {
  const { shop_id, opened } = yield* shopOf(registration)
  const path = pathOf(shop_id)
  const before = (yield* dataFrom(registration, "GET", path)).url
  const { secret } = yield* dataFrom(registration, "PUT", path, { body: { url } })
  const found = yield* dataFrom(registration, "GET", path)
  const isOff = found.on === false
  if (isOff && registration.enable) yield* dataFrom(registration, "POST", `${path}/enable`)
  const off_reason = isOff && !registration.enable ? String(found.off_reason ?? "unknown") : null
  const replaced = typeof before === "string" && before !== url ? before : null
  return { shop_id, opened, secret: String(secret), replaced, off_reason } satisfies Registered
})

/** A webhook that was pointed at an address. */
export interface Pointed {
  readonly registration: Registration
  readonly shop_id: string
  readonly url: string
}

/** Why nothing arrives at its address: the webhook is off, removed, or leads elsewhere; null while events come. */
export const silenceOf = Effect.fnUntraced(function* ({ registration, shop_id, url }: Pointed) {
  const found = yield* dataFrom(registration, "GET", pathOf(shop_id))
  if (found.url !== url) return found.url === null ? "removed" : "moved"
  return found.on === false ? String(found.off_reason ?? "unknown") : null
})

/** The secret of now; null where the webhook leads elsewhere, since who asks for the secret sets the address. */
export const secretNow = (pointed: Pointed): Effect.Effect<string | null> =>
  Effect.gen(function* () {
    const { registration, shop_id, url } = pointed
    const silence = yield* silenceOf(pointed)
    if (silence === "moved" || silence === "removed") return null
    const { secret } = yield* dataFrom(registration, "PUT", pathOf(shop_id), { body: { url } })
    return String(secret)
  }).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => null)
  )

/** The instant of a sandbox's clock, by which it signs; the receiver's own where the sandbox does not say. */
export const sandboxNow = (registration: Registration): Effect.Effect<number> =>
  apiOf(registration)
    .call("GET", "/sandbox/clock")
    .pipe(
      Effect.map((clock) => Date.parse(dataOf<{ readonly now: string }>(clock)?.now ?? "")),
      Effect.filterOrFail(Number.isFinite),
      Effect.timeout("2 seconds"),
      Effect.catchAllCause(() => Effect.clockWith((clock) => clock.currentTimeMillis))
    )
