import type { Sent } from "@workshop/core/domain/Attempt"
import { Limits } from "@workshop/core/domain/Limits"
import { SIGNATURE_HEADER } from "@workshop/core/domain/Signature"
import { type WebhookPost, WebhookSender } from "@workshop/core/ports/WebhookSender"
import { verify } from "@workshop/core/verify/verify"
import { Effect, Layer } from "effect"
import { type Answer, acknowledges, type Behaviour, healthy } from "../receive/Behaviour.js"
import { type Arrived, type Doubt, eventOf, type Outcome, type Received } from "../receive/Received.js"
import type { Inbox } from "./World.js"

const nothing: Omit<Sent, "status" | "error"> = {
  detail: null,
  address: null,
  timings: { lookup_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 0 },
  head: ""
}
const status = (status: number): Sent => ({ ...nothing, status, error: null })
const failure = (error: NonNullable<Sent["error"]>): Sent => ({ ...nothing, status: null, error })

/** What a sender makes of each answer; real seconds are not waited for. */
const seen = {
  status: (answer) => status(answer.status),
  redirect: () => status(307),
  endless: () => status(200),
  trickle: () => status(200),
  silent: () => failure("timeout"),
  cut: () => failure("reset")
} as const satisfies { readonly [Kind in Answer["kind"]]: (answer: Answer & { kind: Kind }) => Sent }

const UNBELIEVED = 400

class MemoryInbox implements Inbox {
  readonly #received: Array<Received> = []
  readonly #acknowledged = new Set<string>()
  #behaviour: Behaviour = healthy
  #secret = ""

  constructor(readonly url: string) {}

  readonly received = Effect.sync(() => [...this.#received])

  readonly behave = (next: Partial<Behaviour>) =>
    Effect.sync(() => {
      this.#behaviour = { ...this.#behaviour, ...next }
    })

  readonly trust = (secret: string) =>
    Effect.sync(() => {
      this.#secret = secret
    })

  /** Takes a request in, with the time of the sender's clock: a receiver's own would be the same. */
  readonly take = Effect.fnUntraced(function* (this: MemoryInbox, { headers, body }: WebhookPost) {
    const at = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
    const signature = headers[SIGNATURE_HEADER] ?? null
    const event = eventOf(body)
    const path = new URL(this.url).pathname
    const arrived: Arrived = { n: this.#received.length + 1, at, path, headers, signature, body, event }
    const verdict = yield* Effect.promise(() => verify(body, signature, this.#secret, { now: new Date(at) }))
    if (!verdict.ok) return this.#refuse(arrived, verdict.reason)
    return event === null ? this.#refuse(arrived, "not_an_event") : this.#answer(arrived, event.id)
  })

  #refuse(arrived: Arrived, doubt: Doubt): Sent {
    this.#received.push({ ...arrived, outcome: "refused", doubt, redialled: false, answered: UNBELIEVED })
    return status(UNBELIEVED)
  }

  #answer(arrived: Arrived, id: string): Sent {
    const { answer: chosen, delay_ms } = this.#behaviour
    const answer = typeof chosen === "function" ? chosen(arrived) : chosen
    const answered = answer.kind === "status" ? answer.status : answer.kind
    this.#received.push({ ...arrived, outcome: this.#outcome(answer, id), doubt: null, redialled: false, answered })
    if (delay_ms >= Limits.webhook_answer_ms) return failure("timeout")
    return (seen[answer.kind] as (answer: Answer) => Sent)(answer)
  }

  #outcome(answer: Answer, id: string): Outcome {
    if (!acknowledges(answer)) return "failed"
    const isKnown = this.#acknowledged.has(id)
    this.#acknowledged.add(id)
    return isKnown ? "again" : "event"
  }
}

/** Receivers without sockets, and the sender that reaches them; to it, nobody listens at any other address. */
export class MemoryInboxes {
  readonly #byUrl = new Map<string, MemoryInbox>()

  readonly open: Effect.Effect<Inbox> = Effect.sync(() => {
    const inbox = new MemoryInbox(`http://127.0.0.1:4011/receiver-${this.#byUrl.size + 1}`)
    this.#byUrl.set(inbox.url, inbox)
    return inbox
  })

  readonly sender: Layer.Layer<WebhookSender> = Layer.succeed(WebhookSender, {
    send: (post) => this.#byUrl.get(post.url)?.take(post) ?? Effect.succeed(failure("connect"))
  })
}
