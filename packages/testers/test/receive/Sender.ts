import type { Receiver, ReceiverOptions } from "@workshop/testers/receiver"
import { Effect, Exit, Scope } from "effect"
import { signatureHeader } from "../../../core/src/domain/Signature.js"
import * as Receivers from "../../src/receive/Receiver.js"

export const SECRET = "whsec_the-shop's-own"

/** 2026-11-20T12:00:00Z. */
export const NOON = 1_795_176_000_000

/** The text of an event. */
export const eventText = (id: string, type = "ping", data: object = {}): string =>
  JSON.stringify({ id, type, created_at: "2026-11-20T12:00:00.000Z", api_version: "1", shop_id: "s", data })

/** A receiver whose clock always shows `NOON`, and a sender of events to it. */
export class Sender implements AsyncDisposable {
  private constructor(
    readonly receiver: Receiver,
    readonly close: () => Promise<void>
  ) {}

  static async open(options: ReceiverOptions = {}): Promise<Sender> {
    const scope = Effect.runSync(Scope.make())
    const given = { secrets: [SECRET], now: Effect.succeed(NOON), ...options }
    const receiver = await Effect.runPromise(Scope.extend(Receivers.makeReceiver(given), scope))
    return new Sender(receiver, () => Effect.runPromise(Scope.close(scope, Exit.void)))
  }

  /** Sends a body, by default with a valid signature; with null no signature header is sent. */
  send(body: string, header: string | null = signatureHeader(body, [SECRET], NOON)): Promise<Response> {
    return fetch(this.receiver.url, {
      method: "POST",
      redirect: "manual",
      headers: header === null ? {} : { "service-signature": header },
      body
    })
  }

  /** Sends events one after another, and returns the statuses. */
  async statuses(...ids: ReadonlyArray<string>): Promise<ReadonlyArray<number>> {
    const found: Array<number> = []
    for (const id of ids) found.push((await this.send(eventText(id))).status)
    return found
  }

  get received() {
    return Effect.runSync(this.receiver.received)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
