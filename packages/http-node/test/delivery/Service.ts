import { Closer, Dispatcher, Entropy, NotificationSender, Notifiers, Profanity, sandboxAddresses } from "@workshop/core"
import { pipeline, workshopRoutes } from "@workshop/core/http"
import { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
import { serve } from "@workshop/http-node"
import { SandboxReceivers, sandboxRoutes, sandboxSender } from "@workshop/http-node/sandbox"
import * as NodeSender from "@workshop/http-node/sender"
import { Effect, Exit, Layer, ManagedRuntime, Scope } from "effect"
import { expect } from "vitest"
import { layer as workshopLayer } from "../../../core/src/services/Workshop.js"
import { testStore } from "../TestStore.js"
import type { WebhookReceiver } from "./WebhookReceiver.js"

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A parsed JSON body without a type, because the tests check its content. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses as a client without types does
export type Json = any

const make = () => {
  const services = NotificationSender.Default.pipe(
    Layer.provide(Notifiers.layer),
    Layer.provideMerge(workshopLayer),
    Layer.provideMerge(testStore),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Entropy.layer),
    Layer.provideMerge(SandboxReceivers.layer)
  )
  return ManagedRuntime.make(
    ClockAdvance.layer([Closer, Dispatcher, NotificationSender]).pipe(
      Layer.provideMerge(Dispatcher.layer({ isJittered: false })),
      Layer.provide(sandboxSender),
      Layer.provide(NodeSender.layer({ policy: sandboxAddresses })),
      Layer.provideMerge(services),
      Layer.provideMerge(SandboxClock.layer)
    )
  )
}

/** The service as `workshop serve --sandbox` composes it, on a real socket, with its clock frozen. */
export class Service implements AsyncDisposable {
  readonly #base: string
  readonly #close: () => Promise<void>
  readonly #now: () => number

  private constructor(base: string, now: () => number, close: () => Promise<void>) {
    this.#base = base
    this.#now = now
    this.#close = close
  }

  static async open(): Promise<Service> {
    const runtime = make()
    const scope = Effect.runSync(Scope.make())
    const started = Effect.gen(function* () {
      const api = yield* workshopRoutes({ validateResponses: true })
      const branches = yield* sandboxRoutes({
        token: null,
        webhookPolicy: sandboxAddresses,
        validateResponses: true,
        api
      })
      const { port } = yield* serve(yield* pipeline(branches), { host: "127.0.0.1", port: 0, trustProxy: false })
      yield* Effect.forkScoped((yield* Closer).run)
      yield* Effect.forkScoped((yield* Dispatcher).run)
      yield* Effect.forkScoped((yield* NotificationSender).run)
      const clock = yield* SandboxClock
      return { port, now: () => clock.unsafeCurrentTimeMillis() }
    })
    const { port, now } = await runtime.runPromise(Scope.extend(started, scope))
    const service = new Service(`http://127.0.0.1:${port}`, now, async () => {
      await runtime.runPromise(Scope.close(scope, Exit.void))
      await runtime.dispose()
    })
    await service.move({ freeze: true })
    return service
  }

  /** The instant of the sandbox clock. */
  get now(): Date {
    return new Date(this.#now())
  }

  async ask(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    const type = body === undefined ? {} : { "content-type": "application/json" }
    const text = body === undefined ? null : JSON.stringify(body)
    const response = await fetch(this.#base + path, { method, body: text, headers: { ...type, ...headers } })
    return { status: response.status, ...((await response.json()) as Json) }
  }

  async good(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Json> {
    const { status, data, error } = await this.ask(method, path, body, headers)
    expect(status, `${method} ${path} ${JSON.stringify(error)}`).toBeLessThan(300)
    return data
  }

  /** The sandbox's stream of events. */
  stream(): Promise<Response> {
    return fetch(`${this.#base}/sandbox/stream`)
  }

  /** Moves the clock, and resolves once all work that is due by the new time has run. */
  move(move: Readonly<Record<string, unknown>>): Promise<Json> {
    return this.good("POST", "/sandbox/clock", move)
  }

  /** Waits until all deliveries that are due now have a result. */
  settle(): Promise<Json> {
    return this.move({ advance_ms: 0 })
  }

  /** Opens a shop that sends its events to a receiver. */
  async shop(receiver: WebhookReceiver): Promise<Shop> {
    const input = { name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis" }
    const { shop, key } = await this.good("POST", "/sandbox/shops", input)
    const { secret } = await this.good("PUT", `/sandbox/shops/${shop.id}/webhook`, { url: receiver.url })
    return new Shop(this, shop.id, key, secret)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }
}

/** A shop of the service. */
export class Shop {
  #once = 0

  constructor(
    readonly service: Service,
    readonly id: string,
    readonly key: string,
    readonly secret: string
  ) {}

  /** Calls the API with the shop's key, and resolves with the data. */
  api(method: string, path: string, body?: unknown): Promise<Json> {
    const headers = { authorization: `Bearer ${this.key}`, "idempotency-key": `once ${++this.#once}` }
    return this.service.good(method, `/v1${path}`, body, headers)
  }

  /** Calls the sandbox as the shop's owner, and resolves with the data. */
  own(method: string, path: string, body?: unknown): Promise<Json> {
    return this.service.good(method, `/sandbox/shops/${this.id}${path}`, body)
  }

  ping(): Promise<Json> {
    return this.own("POST", "/webhook/ping")
  }

  async pings(many: number): Promise<void> {
    for (let i = 0; i < many; i++) await this.ping()
  }

  /** The state of each event's delivery and the statuses of its attempts, as `state statuses`. */
  async states(): Promise<ReadonlyArray<string>> {
    const log: Array<Json> = await this.own("GET", "/deliveries")
    return log.map(({ state, attempts }) =>
      [state, ...attempts.map(({ status, error }: Json) => status ?? error)].join(" ")
    )
  }
}
