import { Effect, type Scope } from "effect"
import { CommandRefused } from "../OneSentence.js"
import { loopbackInboxes } from "./loopbackInboxes.js"
import type { Target } from "./runCases.js"
import { type Ask, type NoAnswer, Wire } from "./Wire.js"

/** Where the server is, and what opens its doors. */
export interface Sought {
  readonly base_url: string
  readonly key: string | null
  readonly sandboxToken: string | null
  /** The header in which it signs deliveries. */
  readonly signatureHeader: string
}

const refuse = (message: string) => new CommandRefused({ message })

/** The address without `/v1` and a slash at its end. */
export const originOf = (base_url: string): string => base_url.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, "")

const isLoopback = (origin: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(origin).hostname)

const SCOPES = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]

const send = <D>(wire: Wire, path: string, bearer: string | undefined) =>
  Effect.tryPromise({ try: () => wire.send<D>("GET", path, { bearer }), catch: (error) => error as NoAnswer })

const unknownKey = refuse("The server does not know that key: give a good one with --key.")

/** What another endpoint says of the key, where `GET /v1/shop` says nothing: it may be missing, or broken. */
const checkElsewhere = Effect.fnUntraced(function* (wire: Wire, key: string, shop: number) {
  const { status } = yield* send(wire, "/v1/tickets?limit=1", key)
  if (status === 401) return yield* unknownKey
  if (status !== 200) {
    return yield* refuse(
      `GET /v1/shop was answered with ${shop} and GET /v1/tickets with ${status}, so nothing of the API is there: check --base-url, and the server's log. Nothing is known against the key.`
    )
  }
})

/** A key opens the shop that is tested where there is no sandbox; it must be able to do everything. */
const checkKey = Effect.fnUntraced(function* (wire: Wire, key: string) {
  const shop = yield* send<{ readonly scopes?: unknown }>(wire, "/v1/shop", key)
  if (shop.status === 401) return yield* unknownKey
  if (shop.status === 403) {
    return yield* refuse(
      "The key's shop may not use the API (GET /v1/shop was answered with 403): give the key of an open one."
    )
  }
  if (shop.status !== 200) return yield* checkElsewhere(wire, key, shop.status)
  const scopes = shop.data?.scopes
  // Scopes that are not told are the server's fault and a case's business.
  const missing = Array.isArray(scopes) ? SCOPES.filter((scope) => !scopes.includes(scope)) : []
  return missing.length === 0
    ? undefined
    : yield* refuse(`The key lacks ${missing.join(", ")}: give one with full access, as the cases write tickets too.`)
})

/** Finds out what can be tested of a server: everything where it has a sandbox, else what a key reaches. */
export const findTarget = (
  { base_url, key, sandboxToken, signatureHeader }: Sought,
  ask: Ask
): Effect.Effect<Target, CommandRefused, Scope.Scope> =>
  Effect.gen(function* () {
    const origin = originOf(base_url)
    const token = sandboxToken ?? undefined
    const wire = new Wire(ask, origin)
    const clock = yield* send<{ readonly frozen?: boolean }>(wire, "/sandbox/clock", token)
    if (clock.status === 200 && typeof clock.data?.frozen === "boolean") {
      const inboxes = isLoopback(origin) ? yield* loopbackInboxes(signatureHeader) : null
      return { ask, origin, key: undefined, sandbox: { token, inboxes } }
    }
    if (clock.status === 401 && key === null) {
      return yield* refuse(
        token === undefined
          ? "The sandbox asks for a token: give it in WORKSHOP_SANDBOX_TOKEN."
          : "The sandbox refuses that token: give the one with which the server was started."
      )
    }
    if (key === null) {
      return yield* refuse(
        `There is no sandbox at ${origin}/sandbox: start the server with one, or give --key to run the part that needs none.`
      )
    }
    yield* checkKey(wire, key)
    return { ask, origin, key, sandbox: null }
  }).pipe(Effect.catchTag("NoAnswer", ({ message }) => refuse(message)))
