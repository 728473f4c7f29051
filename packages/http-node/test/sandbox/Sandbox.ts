import {
  Closer,
  Entropy,
  NotificationSender,
  Notifiers,
  Profanity,
  ShopInput,
  Shops,
  sandboxAddresses,
  TrackingPages
} from "@workshop/core"
import { BodyTooLarge, type HttpRequest, type Pipeline, pipeline, workshopRoutes } from "@workshop/core/http"
import { bodyText } from "@workshop/core/internal"
import { ClockAdvance, SandboxClock } from "@workshop/core/sandbox"
import { sandboxRoutes } from "@workshop/http-node/sandbox"
import { Effect, Layer, ManagedRuntime, Schema } from "effect"
import { expect } from "vitest"
import { atEndOfFile } from "../../../../test/endOfFile.js"
import { layer as workshopLayer } from "../../../core/src/services/Workshop.js"
import { testStore } from "../TestStore.js"
import { HandClock } from "./HandClock.js"

/** The time at which the clock of every test sandbox starts, a Friday. */
export const START = "2026-11-20T10:20:42.123Z"

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
/** The time in ms after which a ticket without collection or news closes (Specification, Limits). */
export const SIXTY_DAYS = 5_184_000_000

/** A valid id that no row has. */
export const NOBODY = "01890000-0000-7000-8000-000000000000"

/** The instant `ms` milliseconds after the start, in ISO 8601. */
export const later = (ms: number): string => new Date(Date.parse(START) + ms).toISOString()

/** A parsed JSON body without a type, because the tests check its content. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses as a client without types does
export type Json = any

export interface SandboxResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly data: Json
  readonly meta: Json
  readonly error: Json
  /** The issues of the input, as `in field`. */
  readonly issues: ReadonlyArray<string>
}

export interface Call {
  /** The API key or the sandbox's token. */
  readonly bearer?: string
  readonly idempotency_key?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A body that is sent unchanged. */
  readonly raw?: string
}

const open = (real: HandClock, seed: number, base_url: string | null) => {
  const services = NotificationSender.Default.pipe(
    Layer.provide(Notifiers.layer),
    Layer.provideMerge(workshopLayer),
    Layer.provideMerge(testStore),
    Layer.provideMerge(Profanity.layer),
    Layer.provideMerge(Layer.succeed(TrackingPages, { base_url })),
    Layer.provideMerge(Entropy.layerSeeded(seed)),
    Layer.provideMerge(SandboxClock.layer),
    Layer.provideMerge(Layer.setClock(real))
  )
  return ManagedRuntime.make(ClockAdvance.layer([Closer, NotificationSender]).pipe(Layer.provideMerge(services)))
}

/** The context of the sandbox's services. */
export type Services = ManagedRuntime.ManagedRuntime.Context<ReturnType<typeof open>>

/** The options of a sandbox. */
interface SandboxParts {
  readonly token?: string | null
  readonly seed?: number
  /** Whether a reset creates a shop, as the start of a sandbox can. */
  readonly begin?: boolean
  /** Whether the store has a shop that no sandbox created. */
  readonly isReal?: boolean
  /** The base URL of the tracking pages. */
  readonly trackingPages?: string
  readonly runScenario?: (text: string) => Effect.Effect<Json>
}

const openedAtStart = Effect.orDie(
  Effect.flatMap(Shops, (shops) =>
    shops.create(
      Schema.decodeSync(ShopInput)({
        name: "Made at the start",
        currency: "TND",
        decimals: 3,
        time_zone: "Africa/Tunis"
      })
    )
  )
).pipe(Effect.asVoid)

/** A service with its sandbox, to which tests send requests without a socket. */
export class Sandbox {
  readonly real: HandClock
  readonly runtime: ManagedRuntime.ManagedRuntime<Services, never>
  readonly #pipeline: Pipeline
  #attempts = 0

  private constructor(real: HandClock, runtime: ManagedRuntime.ManagedRuntime<Services, never>, pipeline: Pipeline) {
    this.real = real
    this.runtime = runtime
    this.#pipeline = pipeline
  }

  static async open({
    token = null,
    seed = 1,
    begin = false,
    isReal = false,
    trackingPages,
    runScenario
  }: SandboxParts = {}): Promise<Sandbox> {
    const real = new HandClock(Date.parse(START))
    const runtime = open(real, seed, trackingPages ?? null)
    atEndOfFile(() => runtime.dispose())
    const built = Effect.gen(function* () {
      if (isReal) yield* openedAtStart
      const api = yield* workshopRoutes({ validateResponses: true })
      const services = yield* Effect.context<Effect.Effect.Context<typeof openedAtStart>>()
      return yield* pipeline(
        yield* sandboxRoutes({
          token,
          webhookPolicy: sandboxAddresses,
          validateResponses: true,
          api,
          ...(begin && { begin: Effect.provide(openedAtStart, services) }),
          ...(runScenario && { runScenario })
        })
      )
    })
    return new Sandbox(real, runtime, await runtime.runPromise(built))
  }

  get pipeline(): Pipeline {
    return this.#pipeline
  }

  async ask(method: string, path: string, body?: unknown, call: Call = {}): Promise<SandboxResponse> {
    const text = call.raw ?? (body === undefined ? "" : JSON.stringify(body))
    const headers: Record<string, string> = { ...call.headers }
    if (text !== "") headers["content-type"] = "application/json"
    if (call.bearer !== undefined) headers.authorization = `Bearer ${call.bearer}`
    if (call.idempotency_key !== undefined) headers["idempotency-key"] = call.idempotency_key
    const arrival: HttpRequest = {
      method,
      path,
      query: call.query ?? "",
      header: (name) => headers[name],
      repeats: () => false,
      address: "192.0.2.1",
      body: (max) => {
        const bytes = new TextEncoder().encode(text)
        return bytes.length > max ? new BodyTooLarge() : Effect.succeed(bytes)
      }
    }
    const departure = await this.runtime.runPromise(this.#pipeline(arrival))
    for (const name of ["Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"])
      expect(departure.headers[name], `${method} ${path}: ${name}`).toBeDefined()
    const envelope = JSON.parse(bodyText(departure))
    expect(envelope.success).toBe(departure.status < 300)
    const issues = ((envelope.error?.details?.issues ?? []) as Array<Json>).map((issue) => `${issue.in} ${issue.field}`)
    return { status: departure.status, headers: departure.headers, issues, ...envelope }
  }

  /** Sends a request, expects a success, and returns the data. */
  async good(method: string, path: string, body?: unknown, call?: Call): Promise<Json> {
    const response = await this.ask(method, path, body, call)
    expect(response.status, JSON.stringify(response.error)).toBeLessThan(300)
    return response.data
  }

  /** Moves the clock, and returns its new time. */
  async clock(move: Readonly<Record<string, unknown>>): Promise<{ readonly now: string; readonly frozen: boolean }> {
    const { now, frozen } = await this.good("POST", "/sandbox/clock", move)
    return { now, frozen }
  }

  async now(): Promise<string> {
    return (await this.good("GET", "/sandbox/clock")).now
  }

  /** Creates a shop in Tunis and returns its id and key. */
  async shop(settings: Readonly<Record<string, unknown>> = {}): Promise<{ readonly id: string; readonly key: string }> {
    const shop = { name: "Atelier Lac", currency: "TND", decimals: 3, time_zone: "Africa/Tunis", ...settings }
    const opened = await this.good("POST", "/sandbox/shops", shop)
    return { id: opened.shop.id, key: opened.key }
  }

  /** Creates a ticket through the API. */
  ticket({ key }: { readonly key: string }, body: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    return this.good(
      "POST",
      "/v1/tickets",
      { service: "Hem", ...body },
      { bearer: key, idempotency_key: this.newIdempotencyKey() }
    )
  }

  /** Requests a status of a ticket through the API. */
  status({ key }: { readonly key: string }, ticket: Json, status: string): Promise<SandboxResponse> {
    return this.ask("POST", `/v1/tickets/${ticket.id}/status`, { status }, { bearer: key })
  }

  /** Creates a client's account with a new phone number. */
  async person(
    person: Readonly<Record<string, unknown>> = {}
  ): Promise<{ readonly id: string; readonly phone: string }> {
    const phone = `+2162${String(++this.#attempts).padStart(7, "0")}`
    const names = { given_name: "Amira", family_name: "Ben Salah" }
    const { id } = await this.good("POST", "/sandbox/clients", { ...names, phone, ...person })
    return { id, phone }
  }

  /** The events of a shop, as `type created_at`. */
  async events({ id }: { readonly id: string }): Promise<ReadonlyArray<string>> {
    const events: Array<Json> = await this.good("GET", `/sandbox/shops/${id}/events`)
    return events.map(({ type, created_at }) => `${type} ${created_at}`)
  }

  /** A fresh Idempotency-Key. */
  newIdempotencyKey(): string {
    return `attempt ${++this.#attempts}`
  }
}
