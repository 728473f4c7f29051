import { Effect, Layer } from "effect"
import type { SendResult } from "../../src/domain/Webhook.js"
import { type WebhookPost, WebhookSender } from "../../src/ports/WebhookSender.js"
import { statusResult } from "../../src/testing/TestDispatcher.js"

/** A webhook request, as its receiver sees it. */
export interface ReceivedPost extends WebhookPost {
  readonly id: string
  /** The instant of the sender's clock. */
  readonly at: number
  /** The number of times that this event has arrived, including this one. */
  readonly nth: number
}

/** Returns the result of a request. */
export type Script = (post: ReceivedPost) => Effect.Effect<SendResult>

/** Replaces all receivers in a test: records the requests, and returns the results of its script. */
export class ScriptedSender {
  readonly arrived: Array<ReceivedPost> = []
  script: Script = () => Effect.succeed(statusResult(200))
  /** The number of requests in flight, and the highest number so far. */
  flying = 0
  most_flying = 0
  readonly #times = new Map<string, number>()

  readonly layer = Layer.succeed(WebhookSender, {
    send: (post) =>
      Effect.clockWith((clock) => {
        const { id } = JSON.parse(post.body) as { readonly id: string }
        const nth = (this.#times.get(id) ?? 0) + 1
        this.#times.set(id, nth)
        const arrived = { ...post, id, nth, at: clock.unsafeCurrentTimeMillis() }
        this.arrived.push(arrived)
        this.flying++
        this.most_flying = Math.max(this.most_flying, this.flying)
        return Effect.ensuring(
          Effect.suspend(() => this.script(arrived)),
          Effect.sync(() => this.flying--)
        )
      })
  })
}
