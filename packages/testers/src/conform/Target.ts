import { Effect, type Scope } from "effect"
import { Api, dataOf, EnvironmentFailed, type Exchange, type Fetch } from "../testkit/Api.js"
import { type Handler, listenOnLoopback, type Reply, statusReply } from "../testkit/LoopbackServer.js"
import type { EventJson } from "../testkit/ResponseTypes.js"

/** A delivery as the suite's receiver got it. */
export interface CapturedDelivery {
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The name of the header that contains the signature. */
  readonly signatureHeader: string
  /** The body as it arrived, because the service signed these bytes. */
  readonly body: string
  readonly event: EventJson
}

/** A receiver of one case. */
export interface Inbox {
  readonly url: string
  readonly deliveries: ReadonlyArray<CapturedDelivery>
  /** Sets the reply to all later deliveries. The first reply is 200; a number is a status. */
  readonly reply: (reply: Reply | number) => void
}

/**
 * The receivers of a run, by the path of their address. They listen on a socket, or within this process if the server
 * runs in it too.
 */
export class Inboxes {
  readonly #replies = new Map<string, Reply>()
  readonly #posts = new Map<string, Array<CapturedDelivery>>()
  readonly #signatureHeader: string
  /** The base URL of the receivers without a slash at its end. It must be set before a receiver is opened. */
  origin = ""

  constructor(signatureHeader: string) {
    this.#signatureHeader = signatureHeader
  }

  readonly open = (): Inbox => {
    const path = `/inbox/${this.#posts.size + 1}`
    const deliveries: Array<CapturedDelivery> = []
    this.#posts.set(path, deliveries)
    return {
      url: `${this.origin}${path}`,
      deliveries,
      reply: (reply) => void this.#replies.set(path, typeof reply === "number" ? statusReply(reply) : reply)
    }
  }

  /** Handles a delivery. The response is 404 if no case has opened the address. */
  readonly handler: Handler = ({ path, headers, body }) =>
    Effect.sync(() => {
      const posts = this.#posts.get(path)
      if (posts === undefined) return { reply: statusReply(404) }
      const text = body?.toString("utf8") ?? ""
      const headerTexts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
      posts.push({ headers: headerTexts, signatureHeader: this.#signatureHeader, body: text, event: JSON.parse(text) })
      return { reply: this.#replies.get(path) ?? statusReply(200) }
    })
}

/** The server under test, and the ways in which the cases may use it. */
export interface ConformTarget {
  /** The HTTP client of the server. */
  readonly api: Api
  /**
   * The sandbox that the cases use; null if they must not use one. `inboxes` is null if no webhook can reach the cases.
   */
  readonly sandbox: { readonly inboxes: Inboxes | null } | null
  /** The key of a real shop, if there is no sandbox. */
  readonly key: string | undefined
}

/** The address of the server, with the token of its sandbox or a key. */
export interface TargetAddress {
  /** The address of the service, with or without `/v1`. */
  readonly baseUrl: string
  /** An API key with all scopes, for a server without a sandbox; null if there is none. */
  readonly key: string | null
  /** The token that the sandbox requires; null if it requires none. */
  readonly sandboxToken: string | null
  /** The header in which the server signs deliveries. */
  readonly signatureHeader: string
}

const refuse = (message: string): EnvironmentFailed => new EnvironmentFailed({ message })

const isLoopback = (origin: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(origin).hostname)

const SCOPES = ["tickets:read", "tickets:write", "clients:read", "loyalty:write"]

const unknownKeyRefusal = refuse("The server does not know the key. Give a valid API key with --key.")

/** Checks the key at another endpoint, because `GET /v1/shop` may be missing or broken. */
const checkOtherEndpoint = Effect.fnUntraced(function* (api: Api, key: string, shop: number) {
  const { status } = (yield* api.call("GET", "/v1/tickets?limit=1", { bearer: key })).response
  if (status === 401) return yield* unknownKeyRefusal
  if (status !== 200) {
    return yield* refuse(
      `GET /v1/shop returned ${shop} and GET /v1/tickets ${status}, so the API does not respond there. Check --base-url and the server's log. The key itself may be valid.`
    )
  }
})

/** Checks the key of the shop that is tested without a sandbox. The key must have all scopes. */
const checkKey = Effect.fnUntraced(function* (api: Api, key: string) {
  const shop: Exchange = yield* api.call("GET", "/v1/shop", { bearer: key })
  const { status } = shop.response
  if (status === 401) return yield* unknownKeyRefusal
  if (status === 403) {
    return yield* refuse(
      "The key's shop may not use the API (GET /v1/shop returned 403). Give the key of a shop that may use it."
    )
  }
  if (status !== 200) return yield* checkOtherEndpoint(api, key, status)
  const scopes = dataOf<{ readonly scopes?: unknown }>(shop)?.scopes
  // A response without scopes is not reported here, because a case tests it.
  const missing = Array.isArray(scopes) ? SCOPES.filter((scope) => !scopes.includes(scope)) : []
  return missing.length === 0
    ? undefined
    : yield* refuse(
        `The key lacks ${missing.join(", ")}. Give a key with full access, because the cases also create tickets.`
      )
})

/** Opens receivers on a free port of this machine until the scope closes. */
const loopbackInboxes = Effect.fnUntraced(function* (signatureHeader: string) {
  const inboxes = new Inboxes(signatureHeader)
  const url = yield* Effect.orDie(listenOnLoopback({ host: "127.0.0.1", port: 0 }, inboxes.handler))
  inboxes.origin = url.replace(/\/$/, "")
  return inboxes
})

/** Determines what can be tested of a server: everything if it has a sandbox, otherwise what a key can reach. */
export const findTarget = (
  address: TargetAddress,
  fetch: Fetch
): Effect.Effect<ConformTarget, EnvironmentFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const { baseUrl, key, sandboxToken, signatureHeader } = address
    const api = new Api(baseUrl, { fetch, sandboxToken })
    const clock: Exchange = yield* api.call("GET", "/sandbox/clock")
    if (typeof dataOf<{ readonly frozen?: boolean }>(clock)?.frozen === "boolean") {
      const inboxes = isLoopback(api.origin) ? yield* loopbackInboxes(signatureHeader) : null
      return { api, key: undefined, sandbox: { inboxes } }
    }
    if (clock.response.status === 401 && key === null) {
      return yield* refuse(
        sandboxToken === null
          ? "The sandbox requires a token. Set WORKSHOP_SANDBOX_TOKEN to the token with which the server was started."
          : "The sandbox refused the token. Set WORKSHOP_SANDBOX_TOKEN to the token with which the server was started."
      )
    }
    if (key === null) {
      return yield* refuse(
        `There is no sandbox at ${api.origin}/sandbox. Start the server with a sandbox, or give --key to run the cases that need none.`
      )
    }
    yield* checkKey(api, key)
    return { api, key, sandbox: null }
  }).pipe(Effect.catchTag("NoResponse", ({ message }) => refuse(message)))
