import type { SecureContext } from "node:tls"
import type { Sent, WebhookPost } from "@workshop/core"
import { Cause, type Clock, Effect, Either, Exit, Option } from "effect"
import { Answer, HEAD_BYTES } from "./Answer.js"
import { Call } from "./Call.js"
import type { Connection, Connections, Listener } from "./Connections.js"
import type { Deadlines } from "./Deadlines.js"
import { dial } from "./Dial.js"
import { codeOf, type NotSent, notSent } from "./NotSent.js"
import { requestText } from "./Request.js"
import type { Route, Routes } from "./Route.js"

/** How much of an answer's body is read. */
const BODY_BYTES = 16 * 1024

/** What all attempts of a sender share. */
export interface Surroundings {
  readonly clock: Clock.Clock
  readonly routes: Routes
  readonly connections: Connections
  readonly secureContext: SecureContext
  readonly deadline_ms: number
  readonly user_agent: string
  /** For the status line, from the attempt's start. */
  readonly verdicts: Deadlines
  /** For what follows it. */
  readonly rests: Deadlines
  readonly onBytes: (bytes: number) => void
}

// A receiver that wants a certificate of ours says so only after the handshake.
const broken = (cause: Error): NotSent => notSent(/^ERR_(SSL|TLS)_/.test(codeOf(cause) ?? "") ? "tls" : "reset", cause)

/**
 * One attempt, from step to step as the socket calls back: a place of its shop, the addresses, a connection, the request,
 * and the answer as far as the limits allow. Whatever comes first ends it, and ends it once.
 */
export class Attempt implements Listener {
  readonly #post: WebhookPost
  readonly #around: Surroundings
  readonly #done: (sent: Effect.Effect<Sent>) => void
  readonly #call: Call
  readonly #answer = new Answer()
  #isOver = false
  #takeBack: () => void = () => undefined
  #asked_at = 0
  /** Dials anew, as long as a kept connection has answered nothing: its receiver may have let go of it as we wrote. */
  #afresh: (() => void) | undefined

  constructor(post: WebhookPost, around: Surroundings, done: (sent: Effect.Effect<Sent>) => void) {
    this.#post = post
    this.#around = around
    this.#done = done
    this.#call = new Call(around.clock)
  }

  begin(): void {
    const { routes, verdicts, connections } = this.#around
    const route = routes.to(this.#post.url)
    if (Either.isLeft(route)) this.#end(route.left)
    else {
      this.#takeBack = verdicts.begin(() => this.#end(notSent("timeout")))
      connections.place(this.#post.shop_id, this.#call, () => this.#orDie(() => this.#locate(route.right)))
    }
  }

  /** Ends it without an answer to anybody. */
  abandon(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#takeBack()
    this.#call.end()
  }

  heard(chunk: Buffer): void {
    const [call, answer] = [this.#call, this.#answer]
    if (call.transcript.bytes === 0) call.note("first_byte_ms", this.#asked_at)
    this.#afresh = undefined
    call.transcript.add(chunk)
    this.#around.onBytes(chunk.length)
    const isFirst = answer.status === null
    const refused = answer.add(chunk)
    const isTooMuch = answer.body_bytes > BODY_BYTES || call.transcript.bytes > HEAD_BYTES + BODY_BYTES
    if (refused !== undefined) this.#end(refused)
    else if (answer.is_whole || answer.is_senseless || isTooMuch) {
      call.clean = answer.is_whole && !isTooMuch
      this.#verdict()
    } else if (isFirst && answer.status !== null) {
      this.#takeBack()
      this.#takeBack = this.#around.rests.begin(() => this.#verdict())
    }
  }

  failed(cause: Error): void {
    if (this.#afresh !== undefined) this.#afresh()
    else if (this.#answer.status === null) this.#end(broken(cause))
    else this.#verdict()
  }

  closed(): void {
    if (this.#afresh !== undefined) this.#afresh()
    else this.#verdict()
  }

  #locate(route: Route): void {
    const { addresses } = route
    if (Effect.isEffect(addresses))
      this.#run(this.#call.timed("lookup_ms", addresses), (found) => this.#reach(route, found))
    else this.#reach(route, addresses)
  }

  #reach(route: Route, addresses: ReadonlyArray<string>): void {
    const { connections } = this.#around
    const poolOf = (address: string) => `${this.#post.shop_id} ${route.key} ${address}`
    const dialAnew = () =>
      this.#run(dial(addresses, route, this.#call, this.#around), ([address, socket]) =>
        this.#ask(route, address, connections.open(poolOf(address), socket))
      )
    for (const address of addresses) {
      const idle = connections.reuse(poolOf(address))
      if (idle === undefined) continue
      this.#afresh = () => {
        this.#afresh = undefined
        idle.user = null
        dialAnew()
      }
      this.#ask(route, address, idle)
      return
    }
    dialAnew()
  }

  #ask(route: Route, address: string, connection: Connection): void {
    const [call, { connections, user_agent }] = [this.#call, this.#around]
    call.address = address
    connection.user = this
    // An answer may come before the request is read; then there is no more to say, and the rest stays unsent.
    call.atEnd(() => {
      if (connection.user !== this) return
      call.clean &&= connection.socket.writableLength === 0
      connections.leave(connection, call.clean ? this.#answer.kept_s : 0)
    })
    this.#asked_at = call.time_ms
    connection.socket.write(requestText(this.#post, route, user_agent), "utf8")
  }

  /** Goes on with what an effect finds, unless the attempt has ended meanwhile. */
  #run<A>(work: Effect.Effect<A, NotSent>, next: (found: A) => void): void {
    const cancel = Effect.runCallback(Effect.withClock(work, this.#around.clock), {
      onExit: (exit) => {
        if (this.#isOver) return
        if (Exit.isSuccess(exit)) return this.#orDie(() => next(exit.value))
        const failure = Cause.failureOption(exit.cause)
        if (Option.isSome(failure)) return this.#end(failure.value)
        this.#die(exit.cause as Cause.Cause<never>)
      }
    })
    this.#call.atEnd(cancel)
  }

  /**
   * A defect, such as a header that HTTP has not, is its caller's: thrown here, it would end the process, or the attempt
   * whose place this one takes.
   */
  #orDie(step: () => void): void {
    try {
      step()
    } catch (defect) {
      this.#die(Cause.die(defect))
    }
  }

  #die(cause: Cause.Cause<never>): void {
    this.abandon()
    this.#done(Effect.failCause(cause))
  }

  #verdict(): void {
    const { status } = this.#answer
    this.#end(status === null ? notSent("reset") : { status })
  }

  #end(outcome: NotSent | { readonly status: number }): void {
    if (this.#isOver) return
    this.abandon()
    this.#done(Effect.succeed(this.#call.sent(outcome)))
  }
}
