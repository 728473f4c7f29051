import { SendResult, type ShopId, WebhookSender } from "@workshop/core"
import { signatureHeader, signingSecrets, toIso } from "@workshop/core/internal"
import { Reads } from "@workshop/core/store"
import { Context, Effect, Layer, Schema } from "effect"
import { requestHeaders, USER_AGENT } from "../sender/SendAttempt.js"
import { processStart, Ring } from "./Feed.js"
import { meaningsMarkdown } from "./views.js"

/** The named responses of the built-in receiver that are not statuses. */
export const answerDescriptions = {
  cut: "cuts the connection before a response",
  silent: "never responds",
  late: "responds after more than the ten seconds that the sender waits"
} as const

const words = Object.keys(answerDescriptions) as [
  keyof typeof answerDescriptions,
  ...Array<keyof typeof answerDescriptions>
]

/** A status, or a key of {@link answerDescriptions}. */
export const ReceiverAnswer = Schema.Union(
  Schema.Int.pipe(Schema.between(200, 599)),
  Schema.Literal(...words)
).annotations({
  identifier: "ReceiverAnswer",
  description: meaningsMarkdown(answerDescriptions)
})
/** A status, or a key of {@link answerDescriptions}. */
export type ReceiverAnswer = typeof ReceiverAnswer.Type

/** The behaviour of a shop's built-in receiver. */
export const ReceiverBehaviour = Schema.Struct({
  answer: ReceiverAnswer,
  /** The number of events that get `answer` before the receiver responds with `afterwards`; null for all. */
  times: Schema.NullOr(Schema.Int),
  afterwards: ReceiverAnswer,
  /** The URL to which the receiver forwards events and whose responses it returns; null if it responds itself. */
  forward_to: Schema.NullOr(Schema.String)
})
/** The behaviour of a shop's built-in receiver. */
export type ReceiverBehaviour = typeof ReceiverBehaviour.Type

/** An event that a receiver got. */
export const ReceivedEvent = Schema.Struct({
  id: Schema.Int,
  at: Schema.String,
  event_id: Schema.String,
  type: Schema.String,
  signature: Schema.Struct({ ok: Schema.Boolean, base: Schema.String, expected: Schema.String, got: Schema.String }),
  headers: Schema.Record({ key: Schema.String, value: Schema.String }),
  body: Schema.String,
  answered: Schema.String.annotations({
    description: "The status of the response, or the reason why there was no response"
  })
}).annotations({ identifier: "ReceivedEvent" })
/** An event that a receiver got, with the receiver's shop. */
export type ReceivedEvent = typeof ReceivedEvent.Type & { readonly shop_id: ShopId }

/** A request to a receiver, as it was sent. */
export const SentRequest = Schema.Struct({
  at: Schema.String,
  url: Schema.String,
  headers: Schema.Record({ key: Schema.String, value: Schema.String })
})
/** A request to a receiver, as it was sent. */
export type SentRequest = typeof SentRequest.Type

const healthy: ReceiverBehaviour = { answer: 200, times: null, afterwards: 200, forward_to: null }

const MAX_ENTRIES = 1000
const MAX_CHARACTERS = 16 * 1024 * 1024
/** The base URL of the built-in receivers, at which no socket listens. */
const BASE = "http://receiver.localhost/"

/** The result of an attempt that gets this response. A timeout is reported at once. */
const outcomeOf = (answer: ReceiverAnswer): SendResult => {
  if (typeof answer === "number") return { ...SendResult.responded(answer), head: `HTTP/1.1 ${answer}\n` }
  return SendResult.failed(answer === "cut" ? "reset" : "timeout")
}

const answerText = ({ status, error }: SendResult): string => String(status ?? error)

/**
 * The built-in receivers of a sandbox's shops with their received events, and the last request for each event to any
 * receiver.
 */
export class Receivers {
  readonly #behaviours = new Map<string, ReceiverBehaviour>()
  readonly #received: Ring<ReceivedEvent>
  readonly #sent = new Map<string, SentRequest>()
  /** Called with each event that a receiver gets. */
  onReceived: (event: ReceivedEvent) => void = () => undefined

  constructor(started_at: number) {
    this.#received = new Ring<ReceivedEvent>(MAX_ENTRIES, MAX_CHARACTERS, ({ body }) => body.length + 500, started_at)
  }

  /** The URL of a shop's built-in receiver. */
  urlOf(shop_id: string): string {
    return `${BASE}${shop_id}`
  }

  /** The shop whose built-in receiver has a URL, if any. */
  shopAt(url: string): string | undefined {
    return url.startsWith(BASE) ? url.slice(BASE.length) : undefined
  }

  behaviour(shop_id: string): ReceiverBehaviour {
    return this.#behaviours.get(shop_id) ?? healthy
  }

  /** The configured behaviours, by shop. */
  get behaviours(): Readonly<Record<string, ReceiverBehaviour>> {
    return Object.fromEntries(this.#behaviours)
  }

  setBehaviour(shop_id: string, behaviour: ReceiverBehaviour): void {
    this.#behaviours.set(shop_id, behaviour)
  }

  received(shop_id: string, after: number): ReadonlyArray<ReceivedEvent> {
    return this.#received.all.filter((event) => event.id > after && event.shop_id === shop_id)
  }

  /** The last request for an event; undefined if this process sent none, or no longer stores it. */
  sent(event_id: string): SentRequest | undefined {
    return this.#sent.get(event_id)
  }

  noteSent(event_id: string, request: SentRequest): void {
    this.#sent.delete(event_id)
    this.#sent.set(event_id, request)
    for (const oldest of this.#sent.keys()) {
      if (this.#sent.size <= MAX_ENTRIES) break
      this.#sent.delete(oldest)
    }
  }

  noteReceived(event: Omit<ReceivedEvent, "id">): void {
    this.onReceived(this.#received.add((id) => ({ ...event, id })))
  }

  /** Returns the response to the next event, and counts the event. */
  take(shop_id: string): ReceiverAnswer {
    const now = this.behaviour(shop_id)
    if (now.times === null) return now.answer
    const times = now.times - 1
    this.setBehaviour(shop_id, times > 0 ? { ...now, times } : { ...now, answer: now.afterwards, times: null })
    return now.answer
  }

  clear(): void {
    this.#behaviours.clear()
    this.#received.clear()
    this.#sent.clear()
  }
}

/** The receivers of this process's sandbox. */
export class SandboxReceivers extends Context.Tag("@workshop/http-node/SandboxReceivers")<
  SandboxReceivers,
  Receivers
>() {
  /** Receivers without requests. Their data is lost when the layer closes. */
  static readonly layer: Layer.Layer<SandboxReceivers> = Layer.effect(
    SandboxReceivers,
    Effect.map(processStart, (started_at) => new Receivers(started_at))
  )
}

const isSignature = (value: string): boolean => /^t=\d+,v1=/.test(value)

/** Sends to the built-in receivers within the process, and to all other URLs over the network. Stores each request. */
export const sandboxSender: Layer.Layer<WebhookSender, never, WebhookSender | SandboxReceivers | Reads> = Layer.effect(
  WebhookSender,
  Effect.gen(function* () {
    const sender = yield* WebhookSender
    const receivers = yield* SandboxReceivers
    const reads = yield* Reads

    const signatureOf = (shop_id: ShopId, receivedHeader: string, body: string, now: number) =>
      Effect.map(
        Effect.orElseSucceed(reads.shop(shop_id), () => null),
        (state) => {
          const webhook = state?.webhook ?? null
          const expected = webhook === null ? "" : signatureHeader(body, signingSecrets(webhook, now), now)
          const t = /^t=(\d+)/.exec(receivedHeader)?.[1] ?? ""
          return {
            ok: receivedHeader !== "" && receivedHeader === expected,
            base: `${t}.${body}`,
            expected,
            got: receivedHeader
          }
        }
      )

    return WebhookSender.of({
      send: Effect.fnUntraced(function* (post) {
        const { shop_id, url, body } = post
        const headers = requestHeaders(post, new URL(url).host, USER_AGENT)
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const { id, type } = JSON.parse(body) as { readonly id: string; readonly type: string }
        receivers.noteSent(id, { at: toIso(now), url, headers })
        const shop = receivers.shopAt(url)
        if (shop === undefined) return yield* sender.send(post)
        const { forward_to } = receivers.behaviour(shop)
        const sent =
          forward_to === null ? outcomeOf(receivers.take(shop)) : yield* sender.send({ ...post, url: forward_to })
        const receivedHeader = Object.values(headers).find(isSignature) ?? ""
        const signature = yield* signatureOf(shop_id, receivedHeader, body, now)
        receivers.noteReceived({
          shop_id,
          at: toIso(now),
          event_id: id,
          type,
          signature,
          headers,
          body,
          answered: answerText(sent)
        })
        return sent
      })
    })
  })
)
