import { validateHeaderName, validateHeaderValue } from "node:http"
import type { SecureContext } from "node:tls"
import { Limits, REQUEST_HEADERS, type SendResult, type WebhookPost } from "@workshop/core"
import { Cause, type Clock, Effect, Either, Exit, Option } from "effect"
import { AttemptProgress } from "./AttemptProgress.js"
import type { ConnectionPool, ConnectionUser, SenderConnection } from "./ConnectionPool.js"
import type { Deadlines } from "./Deadlines.js"
import { dial } from "./Dial.js"
import { ResponseParser } from "./ResponseParser.js"
import { codeOf, type SendFailed, sendFailed } from "./SendFailed.js"
import type { Target, Targets } from "./Target.js"

// This sender has no code that follows a redirect, so it compiles only while the limit allows none.
const { webhook_response_head_bytes, webhook_response_body_bytes } = Limits satisfies {
  readonly webhook_redirects_max: 0
}

/** The parts that all attempts of a sender share. */
export interface SenderContext {
  readonly clock: Clock.Clock
  readonly targets: Targets
  readonly pool: ConnectionPool
  readonly secureContext: SecureContext
  readonly deadlineMs: number
  /** The deadlines for the time from the start to the status line. */
  readonly statusDeadlines: Deadlines
  /** The deadlines for the time from the status line to the end of the response. */
  readonly bodyDeadlines: Deadlines
  readonly userAgent: string
  readonly onBytes: (bytes: number) => void
}

/** The User-Agent of senders without the option `userAgent`. */
export const USER_AGENT = "Workshop-Webhooks/1"

/** The headers of a request, in the order in which they are sent. */
export const requestHeaders = (
  { headers, body }: Pick<WebhookPost, "headers" | "body">,
  authority: string,
  userAgent: string
): Readonly<Record<string, string>> => ({
  Host: authority,
  "Content-Type": "application/json; charset=utf-8",
  "Content-Length": String(Buffer.byteLength(body)),
  "User-Agent": userAgent,
  "Accept-Encoding": "identity",
  ...Object.fromEntries(Object.entries(headers).filter(([name]) => !REQUEST_HEADERS.has(name.toLowerCase()))),
  Connection: "keep-alive"
})

const requestText = (post: WebhookPost, { path, authority }: Target, userAgent: string): string => {
  let head = `POST ${path} HTTP/1.1\r\n`
  for (const [name, value] of Object.entries(requestHeaders(post, authority, userAgent))) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    head += `${name}: ${value}\r\n`
  }
  return `${head}\r\n${post.body}`
}

// A TLS alert counts as a TLS error even after the handshake, because a receiver that requires a client certificate
// sends it only then.
const connectionFailed = (cause: Error): SendFailed =>
  sendFailed(/^ERR_(SSL|TLS)_/.test(codeOf(cause) ?? "") ? "tls" : "reset", cause)

/*
 * The path of an attempt, from `begin` to its result. `statusDeadlines` (10 s) begins before step 2 and lasts until the status line, so it
 * covers the wait for a slot too. `bodyDeadlines` (1 s) begins at the status line.
 *
 * 1. `begin` parses the URL into a `Target`, and refuses an address that the policy does not allow.
 * 2. `ConnectionPool.acquireSlot`: the shop has few slots, so that one slow receiver does not take all connections.
 * 3. `#locate` looks up the addresses of the name, and refuses all of them if one is not allowed.
 * 4. `#connect` takes an idle connection of the shop to this receiver, or dials a new one (`Dial.ts`), with TLS.
 * 5. `#request` writes head and body at once.
 * 6. `onData` gives the response to a `ResponseParser`. A failure before the status line fails the attempt. Afterwards the status is the
 *    result, also that of a redirect (`Limits.webhook_redirects_max`). The rest of the response is read only for the log and to
 *    reuse the connection.
 * 7. `#end` reports the result once, and releases the connection and the slot.
 *
 * If a reused connection breaks before the first byte of the response, its receiver had probably closed it already, so `#redial` repeats step
 * 4 with a new connection.
 */

/** One attempt to deliver an event. It ends once, at the first result or failure. */
export class SendAttempt implements ConnectionUser {
  readonly #post: WebhookPost
  readonly #context: SenderContext
  readonly #done: (sent: Effect.Effect<SendResult>) => void
  readonly #progress: AttemptProgress
  readonly #response = new ResponseParser()
  #hasEnded = false
  #cancelDeadline: () => void = () => undefined
  #requested_at = 0
  /**
   * Reconnects. It is set until a reused connection gets a response, because the receiver may have closed the
   * connection before the request arrived.
   */
  #redial: (() => void) | undefined

  constructor(post: WebhookPost, context: SenderContext, done: (sent: Effect.Effect<SendResult>) => void) {
    this.#post = post
    this.#context = context
    this.#done = done
    this.#progress = new AttemptProgress(context.clock)
  }

  begin(): void {
    const { targets, pool, statusDeadlines } = this.#context
    const target = targets.get(this.#post.url)
    if (Either.isLeft(target)) this.#end(target.left)
    else {
      this.#cancelDeadline = statusDeadlines.set(() => this.#end(sendFailed("timeout")))
      pool.acquireSlot(this.#post.shop_id, this.#progress, () => this.#catchDefect(() => this.#locate(target.right)))
    }
  }

  /** Ends the attempt without a result. */
  abort(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#cancelDeadline()
    this.#progress.end()
  }

  onData(chunk: Buffer): void {
    const [progress, response] = [this.#progress, this.#response]
    if (progress.bytes_read === 0) progress.recordDuration("first_byte_ms", this.#requested_at)
    this.#redial = undefined
    progress.addToExcerpt(chunk)
    this.#context.onBytes(chunk.length)
    const isStatusNew = response.status === null
    const failure = response.add(chunk)
    const isTooLarge =
      response.body_bytes > webhook_response_body_bytes ||
      progress.bytes_read > webhook_response_head_bytes + webhook_response_body_bytes
    if (failure !== undefined) this.#end(failure)
    else if (response.isComplete || response.isUnreadable || isTooLarge) {
      progress.canReuse = response.isComplete && !isTooLarge
      this.#endWithStatus()
    } else if (isStatusNew && response.status !== null) {
      this.#cancelDeadline()
      this.#cancelDeadline = this.#context.bodyDeadlines.set(() => this.#endWithStatus())
    }
  }

  onError(cause: Error): void {
    if (this.#redial !== undefined) this.#redial()
    else if (this.#response.status === null) this.#end(connectionFailed(cause))
    else this.#endWithStatus()
  }

  onClose(): void {
    if (this.#redial !== undefined) this.#redial()
    else this.#endWithStatus()
  }

  #locate(target: Target): void {
    const { addresses } = target
    if (Effect.isEffect(addresses))
      this.#run(this.#progress.measure("lookup_ms", addresses), (result) => this.#connect(target, result))
    else this.#connect(target, addresses)
  }

  #connect(target: Target, addresses: ReadonlyArray<string>): void {
    const { pool } = this.#context
    const keyOf = (address: string) => `${this.#post.shop_id} ${target.origin} ${address}`
    const dialNew = () =>
      this.#run(dial(addresses, target, this.#progress, this.#context), ([address, socket]) =>
        this.#request(target, address, pool.add(keyOf(address), socket))
      )
    for (const address of addresses) {
      const idle = pool.takeIdle(keyOf(address))
      if (idle === undefined) continue
      this.#redial = () => {
        this.#redial = undefined
        idle.user = null
        dialNew()
      }
      this.#request(target, address, idle)
      return
    }
    dialNew()
  }

  #request(target: Target, address: string, connection: SenderConnection): void {
    const [progress, { pool, userAgent }] = [this.#progress, this.#context]
    progress.address = address
    connection.user = this
    progress.onEnd(() => {
      if (connection.user !== this) return
      // The connection cannot be reused if the response came before the request was written, because the receiver would
      // read the rest as the next request.
      progress.canReuse &&= connection.socket.writableLength === 0
      pool.release(connection, progress.canReuse ? this.#response.keep_alive_s : 0)
    })
    this.#requested_at = progress.time_ms
    connection.socket.write(requestText(this.#post, target, userAgent), "utf8")
  }

  /** Runs an effect and calls `next` with its result, unless the attempt has ended meanwhile. */
  #run<A>(work: Effect.Effect<A, SendFailed>, next: (result: A) => void): void {
    const cancel = Effect.runCallback(Effect.withClock(work, this.#context.clock), {
      onExit: (exit) => {
        if (this.#hasEnded) return
        if (Exit.isSuccess(exit)) return this.#catchDefect(() => next(exit.value))
        const failure = Cause.failureOption(exit.cause)
        if (Option.isSome(failure)) return this.#end(failure.value)
        this.#failWithDefect(exit.cause as Cause.Cause<never>)
      }
    })
    this.#progress.onEnd(cancel)
  }

  /**
   * Passes a defect, such as an invalid header, to the caller of this attempt. If it were thrown, it would end the
   * process, or the attempt that released its slot to this one.
   */
  #catchDefect(step: () => void): void {
    try {
      step()
    } catch (defect) {
      this.#failWithDefect(Cause.die(defect))
    }
  }

  #failWithDefect(cause: Cause.Cause<never>): void {
    this.abort()
    this.#done(Effect.failCause(cause))
  }

  #endWithStatus(): void {
    const { status } = this.#response
    this.#end(status === null ? sendFailed("reset") : { status })
  }

  #end(outcome: SendFailed | { readonly status: number }): void {
    if (this.#hasEnded) return
    this.abort()
    this.#done(Effect.succeed(this.#progress.toResult(outcome)))
  }
}
