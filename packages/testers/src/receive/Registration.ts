import { looksLikeKey } from "@workshop/core/internal"
import { Clock, Effect } from "effect"
import { EnvironmentFailed } from "../testkit/Api.js"
import type { SandboxCall } from "../testkit/Calls.js"
import type { WebhookJson } from "../testkit/ResponseTypes.js"

/** A sandbox, and the shop whose webhook is set to a receiver. */
export interface Registration<E> {
  /** The server's address, for messages. */
  readonly base: string
  /** Calls the sandbox. */
  readonly call: SandboxCall<E>
  /** The id of the shop; null for the shop of the key. */
  readonly shop: string | null
  /** A key of the shop. If neither a shop nor a key is given, a shop is opened. */
  readonly key: string | null
  /** Turns the webhook on if it is off. */
  readonly enable: boolean
}

/** The result of a registration. `opened` is the key of a shop that was opened for the receiver. */
export interface RegistrationResult {
  readonly shop_id: string
  readonly secret: string
  /** The webhook's previous address; null if it had none or the same address. */
  readonly replaced: string | null
  readonly opened: string | null
  /** The reason why the webhook is off and nothing arrives; null while it is on. */
  readonly off_reason: string | null
}

const findOrOpenShop = Effect.fnUntraced(function* <E>({ base, call, shop, key }: Registration<E>) {
  if (shop !== null) return { shop_id: shop, opened: null }
  if (key !== null) {
    const { id } = yield* call<{ readonly id: string }>("get shop", "", { key })
    return { shop_id: id, opened: null }
  }
  const body = { name: "Receiver", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
  const created = yield* call<{ readonly shop: { readonly id: string }; readonly key: string }>("open shop", "", {
    body
  })
  const opened = String(created.key)
  // The key is checked, because it is printed as a command for a shell.
  if (!looksLikeKey(opened))
    return yield* new EnvironmentFailed({
      message: `${base} returned a shop without a valid API key. Check that --register has the address of a sandbox.`
    })
  return { shop_id: created.shop.id, opened }
})

/** Sets the webhook of a shop in the sandbox to an address. Opens a shop if none is named. */
export const register = Effect.fnUntraced(function* <E>(registration: Registration<E>, url: string) {
  const { call, enable } = registration
  const { shop_id, opened } = yield* findOrOpenShop(registration)
  const before = (yield* call<WebhookJson>("get webhook", shop_id)).url
  const { secret } = yield* call<{ readonly secret: string }>("set webhook", shop_id, { body: { url } })
  const { on, off_reason: why } = yield* call<WebhookJson>("get webhook", shop_id)
  if (!on && enable) yield* call("enable webhook", shop_id)
  const off_reason = on || enable ? null : (why ?? "unknown")
  const replaced = before === url ? null : before
  return { shop_id, opened, secret, replaced, off_reason } satisfies RegistrationResult
})

/** A webhook that was set to an address. */
export interface PointedWebhook<E> {
  readonly call: SandboxCall<E>
  readonly shop_id: string
  readonly url: string
}

/** The reason why nothing arrives: the webhook is off, removed, or has another address; null while events arrive. */
export const findSilence = <E>({ call, shop_id, url }: PointedWebhook<E>): Effect.Effect<string | null, E> =>
  Effect.map(call<WebhookJson>("get webhook", shop_id), (webhook) => {
    if (webhook.url !== url) return webhook.url === null ? "removed" : "moved"
    return webhook.on ? null : (webhook.off_reason ?? "unknown")
  })

/**
 * The current secret; null if the webhook has another address, because the call that returns the secret also sets the
 * address.
 */
export const readSecret = <E>(pointed: PointedWebhook<E>): Effect.Effect<string | null> =>
  Effect.gen(function* () {
    const { call, shop_id, url } = pointed
    const silence = yield* findSilence(pointed)
    if (silence === "moved" || silence === "removed") return null
    return (yield* call<{ readonly secret: string }>("set webhook", shop_id, { body: { url } })).secret
  }).pipe(
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => null)
  )

/**
 * The instant of the sandbox's clock, with which it signs; that of the receiver's clock if the sandbox does not
 * respond.
 */
export const readSandboxClock = <E>(call: SandboxCall<E>): Effect.Effect<number> =>
  call<{ readonly now: string }>("read clock").pipe(
    Effect.map(({ now }) => Date.parse(now)),
    Effect.filterOrFail(Number.isFinite),
    Effect.timeout("2 seconds"),
    Effect.catchAllCause(() => Clock.currentTimeMillis)
  )
