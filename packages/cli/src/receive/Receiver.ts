import type { IncomingMessage, ServerResponse } from "node:http"
import type { Instant } from "@workshop/core/domain/Instant"
import { SIGNATURE_HEADER } from "@workshop/core/domain/Signature"
import { verify } from "@workshop/core/verify/verify"
import type { CannotListen } from "@workshop/http-node/listen"
import { Clock, Deferred, Effect, type Scope } from "effect"
import { PCGRandom } from "effect/Utils"
import { type Answer, acknowledges, type Behaviour, healthy, saying } from "./Behaviour.js"
import { giveAnswer } from "./giveAnswer.js"
import { LatestIds } from "./LatestIds.js"
import { listening } from "./listening.js"
import { rawBody } from "./RawBody.js"
import { type Arrived, type Doubt, eventOf, type Outcome, type Received } from "./Received.js"

/** What a receiver can be told when it is made; all of it may be left out. */
export interface ReceiverOptions {
  /** 127.0.0.1 unless told. */
  readonly host?: string
  /** 0, a free one, unless told. */
  readonly port?: number
  /** The webhook's secrets. Left out, requests wait until {@link Receiver.trust} has told them. */
  readonly secrets?: ReadonlyArray<string>
  readonly behaviour?: Partial<Behaviour>
  /** Decides which requests fail where there is a share of failures; 1 unless told. */
  readonly seed?: number
  /** The signature header's name. */
  readonly header?: string
  /** How far `t` may lie from the receiver's clock; 300 unless told. */
  readonly tolerance_seconds?: number
  /** The receiver's clock; Effect's unless told. A sandbox's clock is the one by which a sandbox signs. */
  readonly now?: Effect.Effect<Instant>
  /** Asked where no secret matches, at most once a second: the webhook's secret of now, or null. Left out, nobody is asked. */
  readonly secretNow?: Effect.Effect<string | null>
  /** How many requests, the latest, `received` keeps; 10,000 unless told. */
  readonly keep?: number
  /** How many event ids are remembered to tell what comes again; 100,000 unless told. */
  readonly remember?: number
  /** Told of each request when it was judged, before it is answered. */
  readonly onReceived?: (received: Received) => void
}

/** How many requests there were of each outcome. */
export type Totals = Readonly<Record<Outcome, number>>

/** A webhook receiver on a real socket (Specification, Webhooks): verifies, drops what comes again, and behaves as it is told. */
export interface Receiver {
  /** Where to send events. */
  readonly url: string
  /** The latest requests, in the order in which they were judged. */
  readonly received: Effect.Effect<ReadonlyArray<Received>>
  readonly totals: Effect.Effect<Totals>
  readonly behaviour: Effect.Effect<Behaviour>
  /** Changes how it behaves from the next request on; what is left out stays. Answers the behaviour as it is now. */
  readonly behave: (next: Partial<Behaviour>) => Effect.Effect<Behaviour>
  /** Replaces the secrets; at least one. */
  readonly trust: (secrets: ReadonlyArray<string>) => Effect.Effect<void>
}

const refusals: Readonly<Record<Doubt, { readonly status: number; readonly says: string }>> = {
  missing: { status: 400, says: "There is no signature header" },
  malformed: { status: 400, says: "The signature header is not t=<seconds>,v1=<hex>" },
  mismatch: { status: 400, says: "The signature belongs to another body or another secret" },
  too_old: { status: 400, says: "The signature is too old for the receiver's clock" },
  too_new: { status: 400, says: "The signature is from the future of the receiver's clock" },
  not_an_event: { status: 400, says: "The body is not an event" },
  not_a_post: { status: 405, says: "Events come as POST" },
  too_large: { status: 413, says: "The body is larger than 1 MiB" }
}

const MOST_CUT = 1000

/** Everything that changes while a receiver runs. */
class Memory {
  behaviour: Behaviour
  secrets: ReadonlyArray<string>
  received: Array<Received> = []
  readonly totals: Record<Outcome, number> = { event: 0, again: 0, failed: 0, refused: 0 }
  arrived = 0
  readonly #keep: number
  readonly #seen: LatestIds
  readonly #random: PCGRandom
  /** The signatures of requests that were cut off on a kept connection, and did not come again yet. */
  readonly #cut = new Set<string | null>()

  constructor({ behaviour, secrets = [], keep = 10_000, remember = 100_000, seed = 1 }: ReceiverOptions) {
    this.behaviour = { ...healthy, ...behaviour }
    this.secrets = secrets
    this.#keep = keep
    this.#seen = new LatestIds(remember)
    this.#random = new PCGRandom(seed)
  }

  /** What a request that is in order gets. Asked once a request, as chance is drawn here. */
  answerTo(arrived: Arrived): Answer {
    const { answer, fail_share } = this.behaviour
    if (fail_share > 0 && this.#random.number() < fail_share) return saying(500)
    return typeof answer === "function" ? answer(arrived) : answer
  }

  /** Whether an event comes for the first time; only one that was acknowledged is remembered. */
  outcomeOf({ event }: Arrived, answer: Answer): Outcome {
    if (!acknowledges(answer)) return "failed"
    const isKnown = this.#seen.has(event!.id)
    this.#seen.add(event!.id)
    return isKnown ? "again" : "event"
  }

  /** Whether a request repeats one that was cut off on a kept connection: the same event under the same signature. */
  isRedial({ signature }: Arrived, answer: Answer, isKept: boolean): boolean {
    const redialled = this.#cut.delete(signature)
    if (this.#cut.size >= MOST_CUT) this.#cut.clear()
    if (answer.kind === "cut" && isKept) this.#cut.add(signature)
    return redialled
  }

  note(received: Received): Received {
    // The cut that it follows was counted as the attempt's failure, and is no attempt of its own.
    if (received.redialled) this.totals.failed -= 1
    this.totals[received.outcome] += 1
    this.received.push(received)
    if (this.received.length > 2 * this.#keep) this.received = this.received.slice(-this.#keep)
    return received
  }

  latest(): ReadonlyArray<Received> {
    return this.received.slice(-this.#keep)
  }
}

const refuse = (response: ServerResponse, doubt: Doubt) => {
  const { status, says } = refusals[doubt]
  response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(`${says}.\n`)
}

const answeredWith = (answer: Answer): Received["answered"] => (answer.kind === "status" ? answer.status : answer.kind)

/** Verifies requests. A secret that was changed meanwhile is asked for, and what it signed is believed at once. */
const judging = (memory: Memory, { tolerance_seconds = 300, secretNow = Effect.succeed(null) }: ReceiverOptions) =>
  Effect.map(Effect.cachedWithTTL(secretNow, "1 second"), (renewed) =>
    Effect.fnUntraced(function* (arrived: Arrived, bytes: Buffer) {
      const told = { toleranceSeconds: tolerance_seconds, now: new Date(arrived.at) }
      const judge = Effect.promise(() => verify(bytes, arrived.signature, memory.secrets, told))
      const verdict = yield* judge
      if (verdict.ok || verdict.reason !== "mismatch") return verdict
      const secret = yield* renewed
      if (secret === null) return verdict
      memory.secrets = [...new Set([secret, ...memory.secrets])]
      return yield* judge
    })
  )

/** Starts a receiver; it stops, and cuts off whoever is connected, when the scope closes. */
export const make = (options: ReceiverOptions = {}): Effect.Effect<Receiver, CannotListen, Scope.Scope> =>
  Effect.gen(function* () {
    const { host = "127.0.0.1", port = 0, now = Clock.currentTimeMillis } = options
    const header = (options.header ?? SIGNATURE_HEADER).toLowerCase()
    const memory = new Memory(options)
    const tell = options.onReceived ?? (() => undefined)
    const trusted = yield* Deferred.make<void>()
    if (memory.secrets.length > 0) yield* Deferred.succeed(trusted, undefined)

    const verdictOn = yield* judging(memory, options)

    const doubtOf = Effect.fnUntraced(function* (request: IncomingMessage, arrived: Arrived, bytes: Buffer | null) {
      if (request.method !== "POST") return "not_a_post"
      if (bytes === null) return "too_large"
      yield* Deferred.await(trusted)
      const verdict = yield* verdictOn(arrived, bytes)
      if (!verdict.ok) return verdict.reason
      return arrived.event === null ? "not_an_event" : null
    })

    const used = new WeakSet<IncomingMessage["socket"]>()
    const handle = Effect.fnUntraced(function* (request: IncomingMessage, response: ServerResponse) {
      const isKept = used.has(request.socket)
      used.add(request.socket)
      const bytes = yield* rawBody(request)
      const at = yield* now
      const body = bytes?.toString("utf8") ?? ""
      const { url: path = "/", headers } = request
      const given = headers[header]
      const signature = Array.isArray(given) ? given.join(",") : (given ?? null)
      memory.arrived += 1
      const arrived: Arrived = { n: memory.arrived, at, path, headers, signature, body, event: eventOf(body) }
      const doubt: Doubt | null = yield* doubtOf(request, arrived, bytes)
      if (doubt !== null) {
        const { status: answered } = refusals[doubt]
        tell(memory.note({ ...arrived, outcome: "refused", doubt, redialled: false, answered }))
        return refuse(response, doubt)
      }
      const answer = memory.answerTo(arrived)
      const outcome = memory.outcomeOf(arrived, answer)
      const redialled = memory.isRedial(arrived, answer, isKept)
      tell(memory.note({ ...arrived, outcome, doubt, redialled, answered: answeredWith(answer) }))
      return yield* giveAnswer(response, answer, memory.behaviour.delay_ms)
    })

    return {
      url: yield* listening({ host, port }, handle),
      received: Effect.sync(() => memory.latest()),
      totals: Effect.sync(() => ({ ...memory.totals })),
      behaviour: Effect.sync(() => memory.behaviour),
      behave: (next) =>
        Effect.sync(() => {
          memory.behaviour = { ...memory.behaviour, ...next }
          return memory.behaviour
        }),
      trust: (secrets) =>
        Effect.suspend(() => {
          memory.secrets = secrets
          return Effect.asVoid(Deferred.succeed(trusted, undefined))
        })
    }
  })
